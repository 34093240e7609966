/* Light or dark, as chosen here before, else as the system has it. */

const root = document.documentElement;
const theme = document.getElementById("theme");
const themes = Object.keys(words.themes);
function setTheme(name) {
  root.dataset.theme = name;
  theme.textContent = words.themes[name];
  try {
    localStorage.setItem("opcheck-theme", name);
  } catch {
    /* not kept where nothing can be kept */
  }
}
function keptTheme() {
  try {
    const name = localStorage.getItem("opcheck-theme");
    return themes.includes(name) ? name : "auto";
  } catch {
    return "auto";
  }
}
theme.hidden = false;
theme.addEventListener("click", () => setTheme(themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length]));
setTheme(keptTheme());
