// @ts-check
// Small pieces that every view uses: verdicts, fill bars, problems, copying, loading.

import { html, useEffect, useId, useLayoutEffect, useRef, useState } from './lib.js';
import { link } from './route.js';
import { say, sending, state, targetNear } from './store.js';
import { count, mistake, number, percent } from './words.js';

/** A bar with parts of a whole. It is only drawn; the words beside it say the same.
 * @param {{parts: [string, number][], whole: number}} props */
function Bar({ parts, whole }) {
	return html`<span class="bar" aria-hidden="true">${parts.map(([kind, n]) => n > 0 && html`
		<span key=${kind} class=${'part ' + kind} style=${{ width: Math.max(1.5, (n / Math.max(1, whole)) * 100) + '%' }}></span>`)}</span>`;
}

/** The verdict over all cells: a bar, the counts, and the worst mistakes with an example.
 * @param {{usable?: number, errors?: number, empty?: number, problems?: import('./types.js').CellErrors[], warnings?: import('./types.js').CellErrors[]}} props */
export function Verdict({ usable = 0, errors = 0, empty = 0, problems = [], warnings = [] }) {
	const whole = usable + errors + empty;
	if (!whole) return html`<span class="faint">nothing read yet</span>`;
	const worst = problems[0];
	return html`<div class="verdict">
		<${Bar} whole=${whole} parts=${[['good', usable], ['bad', errors], ['none', empty]]} />
		<span>${errors
			? html`<span class="bad-text">${number(errors)} with errors</span>
				${worst && html`<span class="faint"> ${mistake(worst)}${worst.example && html`: <q class="cell">${worst.example}</q>`}
				</span>`}`
			: html`<span class="good-text">all usable</span>`}
			${warnings.map((w) => html` <span class="warn-text">${number(w.count)} to look at: ${mistake(w)}${w.example && html`: <q class="cell">${w.example}</q>`}</span>`)}</span>
	</div>`;
}

/** What the key makes of the sheet. */
export function Clients() {
	const { rows, clients, disagree } = /** @type {import('./types.js').State} */ (state.value).judgement;
	return html`${count(rows, 'row')} → ${count(clients, 'client')}${disagree > 0 && html`, <span class="warn-text">${count(disagree, 'client')} with rows that disagree</span>`}`;
}

/** How much of a column is filled. @param {{filled: number, rows: number}} props */
export function Filled({ filled, rows }) {
	return html`<span class="filled"><${Bar} whole=${rows} parts=${[['plain', filled]]} /><span>${percent(filled, rows)}</span></span>`;
}

/** A mark with words, such as “required”. @param {{kind?: string, children?: any}} props */
export const Chip = ({ kind = '', children }) => html`<span class=${'chip ' + kind}>${children}</span>`;

/** A list of problems; each leads to its place. @param {{list: import('./types.js').Problem[], kind?: ''|'mistake'|'warning', here?: boolean, grouped?: boolean}} props
 * here is at the place that the problems are about; grouped makes one line of those that say the same */
export function Problems({ list, kind = '', here = false, grouped = false }) {
	if (!list.length) return null;
	const like = (/** @type {import('./types.js').Problem} */ p) => (grouped ? list.filter((x) => x.message === p.message && x.hint === p.hint) : [p]);
	return html`<ul class="problems">${list.filter((p) => like(p)[0] === p).map((p) => html`<li class=${kind}>
		<p>${p.message}${like(p).length > 1 && html` <span class="faint">${number(like(p).length)} times</span>`}</p>
		${p.hint && html`<p class="faint">${p.hint}</p>`}
		<p class="places">
			${!here && targetNear(p.path) && html`<a href=${link('targets', { at: targetNear(p.path) })}>Fix it</a>`}
			${columnOf(p) && html`<a href=${link('columns', { at: columnOf(p) })}>Fix it for all rows</a>`}
			${like(p).slice(0, 5).map(rowOf).filter(Boolean).map((row) => html`<a href=${link('client', { row })}>Row ${number(row)}</a>`)}
			${p.line && html`<a href=${link('file', { line: p.line })}>Line ${p.line}</a>`}
		</p>
	</li>`)}</ul>`;
}

/** The letter of the column of a problem's cell, such as Leads!C7. @param {import('./types.js').Problem} p */
const columnOf = (p) => /!\$?([A-Z]+)\$?\d+(?: \(source row \d+\))?$/.exec(p.where || '')?.[1];

/** The row of a problem, of a results workbook that of the sheet; of several sheets it says too little. @param {import('./types.js').Problem} p */
const rowOf = (p) => p.row || (state.value?.sheets.length === 1 ? Number(/(?:!\$?[A-Z]*\$?| \(source row )(\d+)\)?$/.exec(p.where || '')?.[1]) : 0);

/** Copies a text. @param {{text: string, what: string}} props what names it, e.g. “the command” */
export function Copy({ text, what }) {
	const copy = () => navigator.clipboard.writeText(text).then(() => say(`Copied ${what}.`), () => say('The browser does not allow copying; select the text instead.'));
	return html`<button type="button" class="quiet" onClick=${copy} aria-label=${'Copy ' + what}>Copy</button>`;
}

/** Loads something, again when what it depends on changes; the answer that comes too late is dropped.
 * The old answer stays until the new one is here.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>|null} load null for nothing to load
 * @param {any[]} when
 * @param {number} [patience] milliseconds to wait for the next change before asking
 * @returns {{answer: T|null, error: Error|null, loading: boolean}} */
export function useLoaded(load, when, patience = 0) {
	const [result, set] = useState(/** @type {{answer: T|null, error: Error|null, loading: boolean}} */ ({ answer: null, error: null, loading: true }));
	useEffect(() => {
		const control = new AbortController();
		const start = () => {
			const asked = load(control.signal);
			if (!asked) return set({ answer: null, error: null, loading: false });
			set((old) => ({ ...old, loading: true }));
			asked.then(
				(answer) => { if (!control.signal.aborted) set({ answer, error: null, loading: false }); },
				(error) => {
					if (control.signal.aborted) return;
					if (error.code === 'not-ready') timer = setTimeout(start, 700); // the rows are still being read
					else {
						set((old) => ({ answer: error.status ? null : old.answer, error, loading: false }));
						if (!error.status) timer = setTimeout(start, 3000); // the server may come back
					}
				},
			);
		};
		let timer = setTimeout(start, patience);
		return () => { clearTimeout(timer); control.abort(); };
	}, when);
	return result;
}

/** A button that changes the mapping at a place which another change could move: while a change is on its way, it waits.
 * @param {{onAct: () => any, label?: string, main?: boolean, quiet?: boolean, off?: boolean, children?: any}} props label is for those who do not see what is around it */
export function Act({ onAct, label, main = false, quiet = false, off = false, children }) {
	const waits = sending.value > 0;
	return html`<button type="button" class=${(main ? 'main ' : quiet ? 'quiet ' : '') + (waits && !off ? 'waits' : '')} aria-label=${label}
		aria-disabled=${waits || off ? 'true' : undefined} onClick=${() => { if (!off && !sending.peek()) onAct(); }}>${children}</button>`;
}

/** A handler of keys that does something at Enter, instead of what the form around would do. @param {() => any} use */
export const onEnter = (use) => (/** @type {KeyboardEvent} */ e) => {
	if (e.key !== 'Enter' || e.ctrlKey || e.metaKey || e.defaultPrevented) return;
	e.preventDefault();
	use();
};

/** Buttons of which one is pressed, such as filters. @param {{label: string, value: string, options: [string, any, number?][], onPick: (value: string) => void}} props */
export function Choice({ label, value, options, onPick }) {
	return html`<div class="choice" role="group" aria-label=${label}>${options.map(([name, words, n]) => html`
		<button key=${name} type="button" aria-pressed=${name === value ? 'true' : 'false'} onClick=${() => onPick(name)}>
			${words}${n !== undefined && html` <span class="n">${number(n)}</span>`}</button>`)}</div>`;
}

/** Arrow keys, Home and End move the focus among the elements that match a selector inside the element with the returned handler.
 * @param {string} selector */
export function arrows(selector) {
	return (/** @type {KeyboardEvent} */ event) => {
		if (event.target instanceof Element && event.target.matches('input, select, textarea')) return;
		const stops = /** @type {HTMLElement[]} */ ([.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll(selector)]);
		const active = document.activeElement;
		const at = stops.findIndex((s) => s === active || s.closest('tr, li')?.contains(active));
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: stops.length - 1 }[event.key];
		if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		stops[Math.max(0, Math.min(stops.length - 1, to))]?.focus();
	};
}

/** The side panel with the details of one thing. It takes the focus when another thing is chosen, and Escape closes it.
 * @param {{title: any, of?: any, about: string, onClose: () => void, children?: any}} props about names the thing: another name is another thing */
export function Panel({ title, of, about, onClose, children }) {
	const heading = useRef();
	useLayoutEffect(() => { heading.current?.focus(); }, [about]); // before anybody can type into what is drawn
	const key = (/** @type {KeyboardEvent} */ e) => { if (e.key === 'Escape' && !e.defaultPrevented) onClose(); };
	return html`<section class="panel" aria-labelledby="panel-title" onKeyDown=${key}>
		<header><h2 id="panel-title" tabindex="-1" ref=${heading}>${title}</h2>${of && html`<span class="faint">${of}</span>`}
			<button type="button" class="quiet close" onClick=${onClose} aria-label="Close the details">✕</button></header>
		<div class="panel-body">${children}</div>
	</section>`;
}

/** What is said while something loads or when it cannot be loaded. @param {{of: {error: Error|null, loading: boolean}, what: string}} props */
export function Waiting({ of, what }) {
	if (of.error) return html`<p class="bad-text" role="alert">${of.error.message}</p>`;
	return of.loading ? html`<p class="faint">Reading ${what} …</p>` : null;
}

/** A choice of one of few. @param {{label: string, value: string, options: [string, any][], hint?: any, inline?: boolean, onPick: (value: string) => void}} props */
export function SelectField({ label, value, options, hint, inline = false, onPick }) {
	const id = useId();
	return html`<p class=${inline ? 'field inline' : 'field'}><label for=${id}>${label}</label>
		<select id=${id} value=${value} aria-describedby=${hint ? id + 'h' : undefined} onChange=${(/** @type {any} */ e) => onPick(e.target.value)}>
		${options.map(([name, words]) => html`<option key=${name} value=${name}>${words}</option>`)}</select>
		${hint && html`<span id=${id + 'h'} class="faint">${hint}</span>`}</p>`;
}

/** @param {{label: string, value: any, offers?: string[], hint?: string, number?: boolean, onText: (text: string) => void}} props */
export function TextField({ label, value, offers = [], hint, number, onText }) {
	const id = useId();
	const [typed, setTyped] = useState(/** @type {string|null} */ (null)); // as it stands in the field while it has the focus
	const type = (/** @type {any} */ e) => { setTyped(e.target.value); onText(e.target.value); };
	return html`<p class="field"><label for=${id}>${label}</label>
		<input id=${id} list=${offers.length ? id + 'l' : undefined} inputmode=${number ? 'numeric' : undefined}
		aria-describedby=${hint ? id + 'h' : undefined} value=${typed ?? value} onInput=${type} onBlur=${() => setTyped(null)} />
		${offers.length > 0 && html`<datalist id=${id + 'l'}>${offers.map((o) => html`<option value=${o}></option>`)}</datalist>`}
		${hint && html`<span id=${id + 'h'} class="faint">${hint}</span>`}</p>`;
}
