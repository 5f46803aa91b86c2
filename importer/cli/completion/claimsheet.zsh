#compdef claimsheet
# Completion of claimsheet for zsh: source <(claimsheet completion zsh), behind compinit
_claimsheet() {
	local line text typed=. files=
	local -a command candidates
	command=("${(@Q)words[1,CURRENT-1]}")
	command=("${(@)command/#\~\//$HOME/}")
	[[ $words[CURRENT] == -* ]] && typed=${(Q)words[CURRENT]}
	for line in "${(@f)$("${command[@]}" "$typed" --generate-bash-completion 2>/dev/null)}"; do
		case $line in
		'') ;;
		$'\t'*) files=yes ;;
		*)
			text=${line#*$'\t'}
			candidates+=("${${line%%$'\t'*}//:/\\:}${text:+:$text}")
			;;
		esac
	done
	(( $#candidates )) && _describe claimsheet candidates
	[[ -n $files ]] && _files
}
if [[ $funcstack[1] == _claimsheet ]]; then
	_claimsheet "$@"
else
	compdef _claimsheet claimsheet
fi
