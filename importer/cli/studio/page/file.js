// @ts-check
// The mapping file itself: its text with line numbers, its problems, and what this session changed. A problem leads to its line and a line
// to its problem.

import { get } from './api.js';
import { html, signal, useEffect, useRef, useState } from './lib.js';
import { usePending } from './pending.js';
import { route, stay } from './route.js';
import { current, refuse, replaceText } from './store.js';
import { Choice, Problems, useLoaded, View, Waiting } from './ui.js';
import { count } from './words.js';

export function File() {
	const { path, text } = current().mapping;
	const [view, setView] = useState('text');
	return html`<${View} title="The file" of=${html`<span class="code">${path}</span>`} tools=${html`<${Choice} label="What to show" value=${view}
			options=${[['text', 'Text'], ['changes', 'Changes of this session']]} onPick=${setView} />`}>
		${view === 'text' ? html`<${TextPane} text=${text} />` : html`<${Diff} />`}
	<//>`;
}

/** What is typed, and what it began with; it stays when another view is looked at.
 * @type {import('./lib.js').Signal<{from: string, text: string}|null>} */
const typed = signal(null);

/** The text, its line numbers and its problems. What is typed is a draft until it is taken. @param {{text: string}} props */
function TextPane({ text }) {
	const { problems: mistakes, warnings } = current().mapping;
	const [line, setLine] = useState(0);
	const area = useRef(), gutter = useRef();
	const draft = typed.value?.text ?? text, isChanged = draft !== text, isOther = isChanged && typed.value?.from !== text;
	useEffect(() => { if (typed.value?.text === text) typed.value = null; }, [text]);
	const wanted = Number(route.value.query.line || 0);
	useEffect(() => { // the same link leads there again
		if (!wanted) return;
		const lines = draft.split('\n'), from = lines.slice(0, wanted - 1).join('\n').length + (wanted > 1 ? 1 : 0);
		area.current.focus();
		area.current.setSelectionRange(from, from + (lines[wanted - 1] || '').length);
		area.current.scrollTop = Math.max(0, (wanted - 8) * parseFloat(getComputedStyle(area.current).lineHeight));
		setLine(wanted);
		stay('file', {});
	}, [route.value]);
	const cursor = () => setLine(area.current.value.slice(0, area.current.selectionStart).split('\n').length);
	const take = async () => !isChanged || replaceText(draft);
	usePending(isChanged, async () => {
		if (!isOther) return take();
		refuse(new Error('The file was changed while you typed in it. What you typed stays in the view “The file”: take it there, or put it back.'));
		return false;
	});
	const isAt = (n) => (p) => p.line === n;
	const mark = (n) => (mistakes.some(isAt(n)) ? 'bad-line ' : warnings.some(isAt(n)) ? 'warn-line ' : '') + (n === line ? 'here' : '');
	const here = line ? [...mistakes, ...warnings].filter(isAt(line)) : [];
	return html`<div class="file">
		<div class="text">
			<pre class="gutter code" aria-hidden="true" ref=${gutter}>${draft.split('\n').map((_, i) => html`<span class=${mark(i + 1)}>${i + 1}</span>`)}</pre>
			<label class="hidden" for="file-text">The text of the mapping file</label>
			<textarea id="file-text" class="code" spellcheck=${false} wrap="off" ref=${area} value=${draft} aria-describedby="file-line"
				onInput=${(e) => { typed.value = { from: typed.value?.from ?? text, text: e.target.value }; cursor(); }}
				onKeyUp=${cursor} onClick=${cursor} onScroll=${() => { gutter.current.scrollTop = area.current.scrollTop; }}
				onKeyDown=${(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); take(); } }}></textarea>
		</div>
		<aside aria-label="Problems of the file">
			<div class="actions">${isChanged
				? html`<button type="button" class="main" onClick=${take}>Take this text</button>
				<button type="button" onClick=${() => { typed.value = null; }}>Put back</button>
				${isOther && html`<p class="notice warn" role="alert">The mapping was changed meanwhile.
					${' '}“Take this text” takes yours instead of all of it; “Put back” drops what you typed.</p>`}`
				: html`<span class="faint">Type, then Ctrl+Enter takes the text.</span>`}</div>
			<p id="file-line" class="here-line" aria-live="polite">
				${here.length ? here.map((p) => html`<span class="bad-text">Line ${p.line}: ${p.message}</span> `) : line ? `Line ${line}` : ''}</p>
			<h2>${mistakes.length ? count(mistakes.length, 'mistake') : 'No mistake'}${warnings.length > 0 && `, ${count(warnings.length, 'warning')}`}</h2>
			<${Problems} list=${mistakes} kind="mistake" />
			<${Problems} list=${warnings} kind="warning" />
		</aside>
	</div>`;
}

/** What begins a line of a unified diff: its kind, and the sign and the words for it. @type {Record<string, [string, string, string]>} */
const signs = { '+': ['add', '+', 'added'], '-': ['del', '−', 'taken away'] };

/** The lines that differ from the text when the session began. */
function Diff() {
	const asked = useLoaded((signal) => get('diff', {}, signal), [current().version]);
	const lines = /** @type {string[]} */ (asked.answer?.lines || []);
	if (!asked.answer) return html`<${Waiting} of=${asked} what="the changes" />`;
	if (!lines.length) return html`<p class="nothing">This session has changed nothing.</p>`;
	return html`<div class="scroll" tabindex="0" role="region" aria-label="Changes of this session">
		<table class="diff code"><caption class="hidden">The file, with the lines that were added and taken away</caption>
		<thead class="hidden"><tr><th scope="col">What</th><th scope="col">Text</th></tr></thead>
		<tbody>${lines.map((line, i) => {
			const [kind, sign, words] = signs[line[0]] || ['same', '', ''];
			return line[0] === '@' ? html`<tr key=${i} class="gap"><td colspan="2">Line ${/\+(\d+)/.exec(line)?.[1]}</td></tr>`
				: html`<tr key=${i} class=${kind}><td aria-label=${words}>${sign}</td><td>${line.slice(1)}</td></tr>`;
		})}</tbody></table></div>`;
}
