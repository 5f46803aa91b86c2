// @ts-check
// The mapping file itself: its text with line numbers, its problems, and what this session changed. A problem leads to its line and a line to its problem.

import { get } from './api.js';
import { html, signal, useEffect, useRef, useState } from './lib.js';
import { route, stay } from './route.js';
import { problems, refuse, reload, replaceText, state } from './store.js';
import { Act, Choice, Problems, useLoaded, Waiting } from './ui.js';
import { usePending } from './pending.js';
import { count } from './words.js';

/** @typedef {{kind: 'same'|'add'|'del', text: string, line?: number}} DiffLine */

export function File() {
	const { mapping, version } = /** @type {import('./types.js').State} */ (state.value);
	const [view, setView] = useState('text');
	const asked = useLoaded((signal) => (view === 'changes' ? get('diff', {}, signal) : null), [view, version]);
	return html`<section class="list" aria-labelledby="view-title">
		<header class="tools">
			<h1 id="view-title">The file <span class="faint code">${mapping.path}</span></h1>
			<${Choice} label="What to show" value=${view} options=${[['text', 'Text'], ['changes', 'Changes of this session']]} onPick=${setView} />
			<${Act} onAct=${() => reload()}>Read it from the disk<//>
		</header>
		${view === 'text' ? html`<${TextPane} text=${mapping.text} />` : html`<${Diff} asked=${asked} />`}
	</section>`;
}

/** What is typed, and what it began with; it stays when another view is looked at.
 * @type {import('./lib.js').Signal<{from: string, text: string}|null>} */
const typed = signal(null);

/** The text, its line numbers and its problems. What is typed is a draft until it is taken. @param {{text: string}} props */
function TextPane({ text }) {
	const kept = typed.value;
	const keep = (/** @type {typeof kept} */ next) => { typed.value = next; };
	const [line, setLine] = useState(0);
	const area = useRef(), gutter = useRef();
	const draft = { text: kept ? kept.text : text };
	const changed = draft.text !== text;
	const isOther = changed && kept !== null && kept.from !== text;
	useEffect(() => { if (kept && kept.text === text) keep(null); }, [text]);
	const show = (/** @type {number} */ n) => {
		const lines = area.current.value.split('\n');
		const from = lines.slice(0, n - 1).reduce((/** @type {number} */ sum, /** @type {string} */ l) => sum + l.length + 1, 0);
		area.current.focus();
		area.current.setSelectionRange(from, from + (lines[n - 1] || '').length);
		area.current.scrollTop = Math.max(0, (n - 8) * parseFloat(getComputedStyle(area.current).lineHeight));
		setLine(n);
	};
	const wanted = Number(route.value.query.line || 0);
	useEffect(() => { if (wanted) { show(wanted); stay('file', {}); } }, [route.value]); // the same link leads there again
	const cursor = () => setLine(area.current.value.slice(0, area.current.selectionStart).split('\n').length);
	const take = async () => !changed || replaceText(draft.text);
	usePending(changed, async () => {
		if (!isOther) return take();
		refuse(new Error('The file was changed while you typed in it. What you typed stays in the view “The file”: take it there, or put it back.'));
		return false;
	});
	const list = problems.value.filter((p) => p.line);
	const mistakes = state.value?.mapping.problems || [];
	const marks = new Map([...list].reverse().map((p) => [p.line, mistakes.includes(p) ? 'bad-line ' : 'warn-line ']));
	const here = list.filter((p) => p.line === line);
	return html`<div class="file">
		<div class="text">
			<pre class="gutter code" aria-hidden="true" ref=${gutter}>
				${draft.text.split('\n').map((_, i) => html`<span class=${(marks.get(i + 1) || '') + (i + 1 === line ? 'here' : '')}>
				${i + 1}</span>`)}</pre>
			<label class="hidden" for="file-text">The text of the mapping file</label>
			<textarea id="file-text" class="code" spellcheck=${false} wrap="off" ref=${area} value=${draft.text} aria-describedby="file-line"
				onInput=${(/** @type {any} */ e) => { keep({ from: kept ? kept.from : text, text: e.target.value }); cursor(); }} onKeyUp=${cursor}
					onClick=${cursor}
				onScroll=${() => { gutter.current.scrollTop = area.current.scrollTop; }}
				onKeyDown=${(/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter' && (e.ctrlKey
					|| e.metaKey)) { e.preventDefault(); take(); } }}></textarea>
		</div>
		<aside aria-label="Problems of the file">
			<div class="actions">${changed
				? html`<button type="button" class="main" onClick=${take}>Take this text</button>
				<button type="button" onClick=${() => keep(null)}>Put back</button>
				${isOther && html`<p class="notice warn" role="alert">The mapping was changed meanwhile. “Take this text” takes yours instead of all of it; “Put back” drops what you typed.</p>`}`
				: html`<span class="faint">Type, then Ctrl+Enter takes the text.</span>`}</div>
			<p id="file-line" class="here-line" aria-live="polite">
				${here.length ? here.map((p) => html`<span class="bad-text">Line ${p.line}: ${p.message}</span> `) : line ? `Line ${line}` : ''}</p>
			<h2>${mistakes.length ? count(mistakes.length, 'mistake') : 'No mistake'}
				${problems.value.length > mistakes.length && `, ${count(problems.value.length - mistakes.length, 'warning')}`}</h2>
			<${Problems} list=${mistakes} kind="mistake" />
			<${Problems} list=${problems.value.filter((p) => !mistakes.includes(p))} kind="warning" />
		</aside>
	</div>`;
}

/** The lines that differ. @param {{asked: {answer: any, error: Error|null, loading: boolean}, title?: string, nothing?: string}} props */
export function Diff({ asked, title = 'Changes of this session', nothing = 'This session has changed nothing.' }) {
	const lines = /** @type {DiffLine[]} */ (asked.answer?.lines || []);
	const n = lines.filter((l) => l.kind !== 'same').length;
	if (!asked.answer) return html`<${Waiting} of=${asked} what="the changes" />`;
	if (!n) return html`<p class="nothing">${nothing}</p>`;
	const words = { same: '', add: 'added', del: 'taken away' };
	return html`<div class="scroll" tabindex="0" role="region" aria-label=${title}>
		<table class="diff code"><caption class="hidden">The file, with the lines that were added and taken away</caption>
		<thead class="hidden"><tr><th scope="col">Line</th><th scope="col">What</th><th scope="col">Text</th></tr></thead>
		<tbody>${near(lines).map((l, i) => (l
			? html`<tr key=${i} class=${l.kind}><td class="num">${l.line ?? ''}</td>
			<td aria-label=${words[l.kind]}>${{ same: '', add: '+', del: '−' }[l.kind]}</td><td>${l.text}</td></tr>`
			: html`<tr key=${i} class="gap"><td colspan="3">…</td></tr>`))}</tbody></table></div>`;
}

/** The changed lines with three lines around them; null stands for lines left out. @param {DiffLine[]} lines @returns {(DiffLine|null)[]} */
function near(lines) {
	const keep = lines.map((_, i) => lines.slice(Math.max(0, i - 3), i + 4).some((l) => l.kind !== 'same'));
	return lines.flatMap((l, i) => (keep[i] ? [l] : i && keep[i - 1] ? [null] : []));
}
