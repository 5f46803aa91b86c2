# Completion of claimsheet for bash: eval "$(claimsheet completion bash)"
_claimsheet() {
	local cur=${COMP_WORDS[COMP_CWORD]} typed=. word line files=
	local -a words=()
	for word in "${COMP_WORDS[@]:0:COMP_CWORD}"; do
		[[ $word == '=' ]] && continue # --flag=value is three words
		word=${word//[\"\'\\]/}
		[[ $word == '~/'* ]] && word=$HOME/${word:2}
		words+=("$word")
	done
	[[ $cur == '=' ]] && cur=
	[[ $cur == -* ]] && typed=$cur
	COMPREPLY=()
	while IFS= read -r line; do
		if [[ $line == $'\t'* ]]; then
			files=yes
		elif [[ ${line%%$'\t'*} == "$cur"* ]]; then
			COMPREPLY+=("$(printf %q "${line%%$'\t'*}")")
		fi
	done < <("${words[@]}" "$typed" --generate-bash-completion 2>/dev/null)
	[[ $files ]] || compopt +o default 2>/dev/null
	return 0
}
complete -o default -F _claimsheet claimsheet
