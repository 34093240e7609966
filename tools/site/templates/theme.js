/* Before anything is drawn: light or dark, as chosen here before, else as the system has it. */
try {
  document.documentElement.dataset.theme = localStorage.getItem("opcheck-theme") || "auto";
} catch {
  /* nothing can be kept here */
}
