// @ts-check
// What every view is made of: its frame, lists with the details of a line, verdicts, problems, and what is loaded.

import { html, useEffect, useLayoutEffect, useRef, useState } from './lib.js';
import { go, link, route, stay } from './route.js';
import { current, sending, targetNear } from './store.js';
import { count, number } from './words.js';

/** A view: its title and tools, what it shows, and beside it the details of what is chosen.
 * @param {{title: any, of?: any, tools?: any, details?: any, children?: any}} props */
export const View = ({ title, of, tools, details, children }) => html`<div class=${details ? 'split' : ''}>
	<section class="list" aria-labelledby="view-title">
		<header class="tools"><h1 id="view-title">${title} <span class="faint">${of}</span></h1>${tools}</header>
		${children}
	</section>
	${details}
</div>`;

/** A list of which the address has the filter and the line that is chosen.
 * @template T @param {string} view @param {T[]} all @param {[string, string, (one: T) => boolean][]} filters the first one shows all */
export function listOf(view, all, filters) {
	const { at, show = filters[0][0] } = route.value.query;
	const [, , fits] = filters.find(([name]) => name === show) || filters[0];
	return {
		at, show, shown: all.filter(fits),
		filter: html`<${Choice} label="Which of them" value=${show} onPick=${(name) => stay(view, { at, show: name })}
			options=${filters.map(([name, words, has]) => [name, words, all.filter(has).length])} />`,
		address: (key) => link(view, { at: key, show }),
		/** Opens the details at a click anywhere on a line. @param {string} key */
		open: (key) => (e) => { if (!e.target.closest('a, button')) go(view, { at: key, show }); },
		close: () => stay(view, { show }),
	};
}

/** The side panel with the details of one thing. It takes the focus when another thing is chosen, and Escape closes it.
 * @param {{title: any, of?: any, about: string, onClose: () => void, children?: any}} props about names the thing: another name is another thing */
export function Panel({ title, of, about, onClose, children }) {
	const heading = useRef();
	useLayoutEffect(() => { heading.current?.focus(); }, [about]); // before anybody can type into what is drawn
	const key = (e) => { if (e.key === 'Escape' && !e.defaultPrevented) onClose(); };
	return html`<section class="panel" aria-labelledby="panel-title" onKeyDown=${key}>
		<header><h2 id="panel-title" tabindex="-1" ref=${heading}>${title}</h2>${of && html`<span class="faint">${of}</span>`}
			<button type="button" class="quiet close" onClick=${onClose} aria-label="Close the details">✕</button></header>
		<div class="panel-body">${children}</div>
	</section>`;
}

/** A bar with parts of a whole. It is only drawn; the words beside it say the same. @param {{parts: [string, number][], whole: number}} props */
export const Bar = ({ parts, whole }) => html`<span class="bar" aria-hidden="true">${parts.map(([kind, n]) => n > 0 && html`
	<span key=${kind} class=${'part ' + kind} style=${{ width: Math.max(1.5, (n / Math.max(1, whole)) * 100) + '%' }}></span>`)}</span>`;

/** The verdict over all cells: a bar, the counts, and the worst mistakes with an example; nothing when no cell was read.
 * @param {import('./types.js').Tally} props */
export function Verdict({ usable, errors, empty, problems: [worst] }) {
	const whole = usable + errors + empty;
	return whole > 0 && html`<div class="verdict">
		<${Bar} whole=${whole} parts=${[['good', usable], ['bad', errors], ['none', empty]]} />
		<span>${errors ? html`<span class="bad-text">${number(errors)} with errors</span>
			${' '}<span class="faint">${worst?.message}${worst?.example && html`: <q class="cell">${worst.example}</q>`}</span>`
			: html`<span class="good-text">all usable</span>`}</span>
	</div>`;
}

/** What the key makes of the sheet. */
export function Clients() {
	const { rows, clients, disagree } = current().judgement;
	return html`${count(rows, 'row')} → ${count(clients, 'client')}${disagree > 0
		&& html`, <span class="warn-text">${count(disagree, 'client')} with rows that disagree</span>`}`;
}

/** A mark with words, such as “your choice”. @param {{kind?: string, children?: any}} props */
export const Chip = ({ kind = '', children }) => html`<span class=${'chip ' + kind}>${children}</span>`;

/** Problems; each leads to its place. Those that say the same of one place are one line; grouped, also those of several places.
 * @param {{list: import('./types.js').Problem[], kind?: ''|'mistake'|'warning', here?: boolean, grouped?: boolean}} props
 * here is at the place that they are about */
export function Problems({ list, kind = '', here = false, grouped = false }) {
	const like = (p) => list.filter((x) => x.message === p.message && x.hint === p.hint && x.line === p.line
		&& (grouped || x.where === p.where));
	return list.length > 0 && html`<ul class="problems">${list.filter((p) => like(p)[0] === p).map((p) => html`<li class=${kind}>
		<p>${p.message}${like(p).length > 1 && html` <span class="faint">${number(like(p).length)} times</span>`}</p>
		${p.hint && html`<p class="faint">${p.hint}</p>`}
		<p class="places">
			${!here && targetNear(p.path) && html`<a href=${link('targets', { at: targetNear(p.path)?.path })}>Fix it</a>`}
			${p.column && html`<a href=${link('columns', { at: p.column })}>Fix it for all rows</a>`}
			${like(p).slice(0, 5).map(({ row }) => row && html`<a href=${link('client', { row })}>Row ${number(row)}</a>`)}
			${p.line && html`<a href=${link('file', { line: p.line })}>Line ${p.line}</a>`}
		</p>
	</li>`)}</ul>`;
}

/** Loads something, again when what it depends on changes; an answer that comes too late is dropped, and the old one stays until then.
 * @template T @param {(signal: AbortSignal) => Promise<T>|null} load null for nothing to load @param {any[]} when
 * @param {number} [patience] milliseconds to wait for the next change before asking
 * @returns {{answer: T|null, error: Error|null, loading: boolean}} */
export function useLoaded(load, when, patience = 0) {
	const [result, set] = useState(/** @type {{answer: T|null, error: Error|null, loading: boolean}} */ ({ answer: null, error: null, loading: true }));
	useEffect(() => {
		const control = new AbortController();
		let timer = setTimeout(start, patience);
		async function start() {
			try {
				const asked = load(control.signal);
				if (asked) set((old) => ({ ...old, loading: true }));
				const answer = await asked;
				if (!control.signal.aborted) set({ answer, error: null, loading: false });
			} catch (/** @type {any} */ error) {
				if (control.signal.aborted) return;
				const isUnjudged = error.code === 'not-ready'; // the rows are still being read
				if (!isUnjudged) set((old) => ({ answer: error.status ? null : old.answer, error, loading: false }));
				if (isUnjudged || !error.status) timer = setTimeout(start, 700); // the server may come back
			}
		}
		return () => { clearTimeout(timer); control.abort(); };
	}, when);
	return result;
}

/** What is said while something loads or when it cannot be loaded. @param {{of: {error: Error|null, loading: boolean}, what: string}} props */
export function Waiting({ of, what }) {
	if (of.error) return html`<p class="bad-text" role="alert">${of.error.message}</p>`;
	return of.loading ? html`<p class="faint">Reading ${what} …</p>` : null;
}

/** A button that changes the mapping at a place which another change could move: while a change is on its way, it waits.
 * @param {{onAct: () => any, label?: string, kind?: ''|'main'|'quiet', off?: boolean, children?: any}} props
 * label is for those who do not see what is around it; off is what cannot be done here */
export function Act({ onAct, label, kind = '', off = false, children }) {
	const waits = sending.value > 0;
	return html`<button type="button" class=${kind + (waits && !off ? ' waits' : '')} aria-label=${label}
		aria-disabled=${waits || off ? 'true' : undefined} onClick=${() => { if (!off && !sending.peek()) onAct(); }}>${children}</button>`;
}

/** Buttons of which one is pressed, such as filters.
 * @param {{label: string, value: string, options: [string, any, number?][], onPick: (value: string) => void}} props */
export const Choice = ({ label, value, options, onPick }) => html`<div class="choice" role="group" aria-label=${label}>
	${options.map(([name, words, n]) => html`<button key=${name} type="button" aria-pressed=${name === value ? 'true' : 'false'} onClick=${() => onPick(name)}>
		${words}${n !== undefined && html` <span class="n">${number(n)}</span>`}</button>`)}</div>`;

/** Arrow keys, Home and End move the focus among the elements that match a selector inside the element with the returned handler.
 * @param {string} selector */
export const arrows = (selector) => (event) => {
	const stops = /** @type {HTMLElement[]} */ ([...event.currentTarget.querySelectorAll(selector)]);
	const at = stops.findIndex((stop) => (stop.closest('tr, li') || stop).contains(event.target));
	const to = stops[{ ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: stops.length - 1 }[event.key] ?? -1];
	if (!to || event.target.matches('input, select, textarea') || event.ctrlKey || event.metaKey || event.altKey) return;
	event.preventDefault();
	to.focus();
};
