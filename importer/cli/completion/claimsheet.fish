# Completion of claimsheet for fish: claimsheet completion fish | source
function __claimsheet_complete
	set -l words (string replace -r '^~/' "$HOME/" -- (commandline -opc))
	set -l current (commandline -ct)
	set -l typed .
	string match -q -- '-*' $current; and set typed $current
	for line in ($words[1] $words[2..-1] $typed --generate-bash-completion 2>/dev/null)
		if string match -q -- \t'*' $line
			__fish_complete_path $current
		else
			printf '%s\n' $line
		end
	end
end
complete -c claimsheet -f -a '(__claimsheet_complete)'
