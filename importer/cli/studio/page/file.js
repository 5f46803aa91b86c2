// @ts-check
// The mapping file itself: its text with line numbers, its problems, and what this session changed. A problem leads to its line and a line
// to its problem.

import { get } from './api.js';
import { html, signal, useEffect, useRef, useState } from './lib.js';
import { route, stay } from './route.js';
import { current, replaceText, usePending } from './store.js';
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

/** What is typed, and the version that it was made from; it stays when another view is looked at.
 * @type {import('./lib.js').Signal<{version: number, text: string}|null>} */
const typed = signal(null);

/** The text, its line numbers and its problems. What is typed is a draft until it is taken. @param {{text: string}} props */
function TextPane({ text }) {
	const { version, mapping: { problems: mistakes, warnings } } = current();
	const [line, setLine] = useState(0);
	const area = useRef(), gutter = useRef();
	const draft = typed.value?.text ?? text, isChanged = draft !== text;
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
	const take = async () => {
		const mine = typed.value, done = !mine || await replaceText(mine);
		// What was refused is taken the next time, instead of what has changed meanwhile. What was typed since stays.
		typed.value = done && typed.value === mine ? null : typed.value && { ...typed.value, version: current().version };
		return done;
	};
	usePending(isChanged, take);
	const isAt = (n) => (p) => p.line === n;
	const mark = (n) => (mistakes.some(isAt(n)) ? 'bad-line ' : warnings.some(isAt(n)) ? 'warn-line ' : '') + (n === line ? 'here' : '');
	const here = line ? [...mistakes, ...warnings].filter(isAt(line)) : [];
	return html`<div class="file">
		<div class="text">
			<pre class="gutter code" aria-hidden="true" ref=${gutter}>${draft.split('\n').map((_, i) => html`<span class=${mark(i + 1)}>${i + 1}</span>`)}</pre>
			<label class="hidden" for="file-text">The text of the mapping file</label>
			<textarea id="file-text" class="code" spellcheck=${false} wrap="off" ref=${area} value=${draft} aria-describedby="file-line"
				onInput=${(e) => { typed.value = { version: typed.value?.version ?? version, text: e.target.value }; cursor(); }}
				onKeyUp=${cursor} onClick=${cursor} onScroll=${() => { gutter.current.scrollTop = area.current.scrollTop; }}></textarea>
		</div>
		<aside aria-label="Problems of the file">
			<div class="actions">${isChanged
				? html`<button type="button" class="main" onClick=${take}>Take this text</button>
				<button type="button" onClick=${() => { typed.value = null; }}>Put back</button>`
				: html`<span class="faint">Type, then Ctrl+Enter takes the text.</span>`}</div>
			<p id="file-line" class="here-line" aria-live="polite">
				${here.length ? here.map((p) => html`<span class="bad-text">Line ${p.line}: ${p.message}</span> `) : line ? `Line ${line}` : ''}</p>
			<h2>${mistakes.length ? count(mistakes.length, 'mistake') : 'No mistake'}${warnings.length > 0 && `, ${count(warnings.length, 'warning')}`}</h2>
			<${Problems} list=${mistakes} kind="mistake" />
			<${Problems} list=${warnings} kind="warning" />
		</aside>
	</div>`;
}

/** The lines that differ from the text when the session began. */
function Diff() {
	const asked = useLoaded((signal) => get('diff', {}, signal), [current().version]);
	const lines = /** @type {string[]} */ (asked.answer?.lines || []);
	if (!asked.answer) return html`<${Waiting} of=${asked} what="the changes" />`;
	if (!lines.length) return html`<p class="nothing">This session has changed nothing.</p>`;
	return html`<pre class="scroll diff code" tabindex="0" role="region" aria-label="Changes of this session">${lines.map((line, i) => html`<${
		{ '+': 'ins', '-': 'del', '@': 'b' }[line[0]] || 'span'} key=${i}>${line.replace(/^@@ .*\+(\d+).*/, 'Line $1')}<//>`)}</pre>`;
}
