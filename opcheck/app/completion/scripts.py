"""What shells run to complete a command line: they ask the program itself.

The words up to the cursor are its arguments, the last of them the one to complete, and the variable
``_OPCHECK_COMPLETE`` names the shell. Answers come a line each, with a tab before what they mean.
"""

from collections.abc import Mapping

VARIABLE = "_OPCHECK_COMPLETE"
"""Set while a shell asks."""

_BASH = """\
# bash completion for opcheck
_opcheck_completion() {
    # bash takes "aten::add" and "--format=json" apart, so the words are read anew
    local line="${COMP_LINE:0:COMP_POINT}" words current breaks candidate IFS=$' \\t\\n'
    read -ra words <<< "$line"
    case "$line" in *[[:space:]]) words+=("") ;; esac
    current="${words[${#words[@]}-1]}"
    # of the answers, bash wants what comes after the last character that it breaks words at
    breaks="${COMP_WORDBREAKS//[^:=@]/}"
    local before=""
    [ -z "$breaks" ] || before="${current%"${current##*[$breaks]}"}"
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("${candidate#"$before"}")
    done < <(_OPCHECK_COMPLETE=bash "${words[0]}" "${words[@]:1}" 2>/dev/null)
    if [ "${#COMPREPLY[@]}" -eq 1 ]; then
        case "${COMPREPLY[0]}" in */ | *: | *=) compopt -o nospace 2>/dev/null ;; esac
    fi
}
complete -F _opcheck_completion opcheck
"""

_ZSH = """\
#compdef opcheck
# zsh completion for opcheck
_opcheck() {
    local line value
    local -a lines whole open before
    before=("${(@)words[2,CURRENT-1]}")
    lines=("${(@f)$(_OPCHECK_COMPLETE=zsh "${words[1]}" "${before[@]}" "$PREFIX" 2>/dev/null)}")
    for line in "${lines[@]}"; do
        [[ -n "$line" ]] || continue
        value="${${line%%$'\\t'*}//:/\\\\:}"
        [[ "$line" == *$'\\t'* ]] && value="$value:${line#*$'\\t'}"
        case "${line%%$'\\t'*}" in
            */ | *: | *=) open+=("$value") ;;
            *) whole+=("$value") ;;
        esac
    done
    (( ${#whole} )) && _describe -t answers opcheck whole
    (( ${#open} )) && _describe -t answers opcheck open -S ''
    return 0
}
if [ "$funcstack[1]" = "_opcheck" ]; then
    _opcheck "$@"
else
    compdef _opcheck opcheck
fi
"""

_FISH = """\
# fish completion for opcheck
function __opcheck_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    env _OPCHECK_COMPLETE=fish $words "$current" 2>/dev/null
end
complete --command opcheck --no-files --arguments '(__opcheck_complete)'
"""

SCRIPTS: Mapping[str, str] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""Shell -> the script that it reads once."""
