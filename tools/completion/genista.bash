# Completion of genista for bash. Commands and options come from `genista ... --help`, so that they
# are those of the program that is called.

# _genista_words PROGRAM [COMMAND...]: the commands and options below it, one a line.
_genista_words() {
    "$@" --help 2>/dev/null | while IFS= read -r line; do
        case $line in
            Subcommands:) in_commands=1 ;;
            Options:) in_commands= ;;
            '  '--* | '  '-?,--*)
                line=${line#  }
                line=${line%%[ =]*}
                printf '%s\n' "${line#-?,}"
                ;;
            '  '[a-z]*)
                line=${line#  }
                [ -z "${in_commands-}" ] || printf '%s\n' "${line%% *}"
                ;;
            '') [ -z "${in_commands-}" ] || break ;;
        esac
    done
}

# _genista_value OPTION PROGRAM [COMMAND...]: what the help calls the value of the option, for
# example FILE|- or keyed|trusted. Empty for a flag.
_genista_value() {
    local option=$1 line
    shift
    "$@" --help 2>/dev/null | while IFS= read -r line; do
        case $line in
            "  $option "[!\ ]*)
                line=${line#"  $option "}
                printf '%s\n' "${line%%[ =]*}"
                break
                ;;
        esac
    done
}

# _genista_positional PROGRAM [COMMAND...]: what the help calls its first argument, for example FILE.
_genista_positional() {
    "$@" --help 2>/dev/null | sed -n '/^Positionals:/{n;s/^  \([A-Z]*\).*/\1/p;}'
}

_genista() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} value commands at each
    COMPREPLY=()
    # The command so far: `genista store audit`.
    at=("${COMP_WORDS[0]}")
    for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $each in
            help) [ ${#at[@]} -eq 1 ] || break ;;
            -*) break ;;
            *)
                commands=$(_genista_words "${at[@]}")
                [[ $'\n'$commands$'\n' == *$'\n'"$each"$'\n'* ]] || break
                at+=("$each")
                ;;
        esac
    done
    if [[ $before == --* ]]; then
        value=$(_genista_value "$before" "${at[@]}")
        case $value in
            '') ;;
            DIR*)
                mapfile -t COMPREPLY < <(compgen -d -- "$word")
                return
                ;;
            FILE* | MODEL* | OLD*)
                mapfile -t COMPREPLY < <(compgen -f -- "$word")
                return
                ;;
            *)
                # The words of keyed|trusted, and none of N.
                value=${value//|/ }
                mapfile -t COMPREPLY < <(compgen -W "${value//[A-Z.,\/]/}" -- "$word")
                return
                ;;
        esac
    fi
    value=
    [[ $word == -* ]] || value=$(_genista_positional "${at[@]}")
    case $value in
        '') commands=$(_genista_words "${at[@]}") ;;
        ID) commands=$("${at[0]}" lab list 2>/dev/null | sed -n 's/^\([a-z][^ ]*\) .* available$/\1/p') ;;
        *) return ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
}

# Where nothing is offered, bash offers file names.
complete -o bashdefault -o default -o filenames -F _genista genista
