// @ts-check
// Texts with columns in them, formulas, and conditions: a field, a way to insert a column, and for conditions a short form in plain words.

import { html, useId, useRef } from './lib.js';
import { columnItems, Picker } from './picker.js';
import { state } from './store.js';

/**
 * A field into which columns can be inserted at the cursor.
 * @param {{label: string, text: string, hint: any, insert: (header: string) => string, onText: (text: string) => void}} props
 */
function FieldWithColumns({ label, text, hint, insert, onText }) {
	const id = useId();
	const field = useRef();
	const add = (/** @type {string} */ header) => {
		const { selectionStart: from, selectionEnd: to } = field.current;
		const piece = insert(header);
		onText(text.slice(0, from) + piece + text.slice(to));
		requestAnimationFrame(() => { field.current?.focus(); field.current?.setSelectionRange(from + piece.length, from + piece.length); });
	};
	return html`<div class="with-columns">
		<p class="field"><label for=${id}>${label}</label>
			<textarea id=${id} class="code" rows="2" spellcheck=${false} aria-describedby=${id + 'h'} ref=${field} value=${text}
			onInput=${(/** @type {any} */ e) => onText(e.target.value)}></textarea></p>
		<p id=${id + 'h'} class="faint hint">${hint}</p>
		<${Picker} label="Insert a column" items=${columnItems(state.value?.columns || [])} placeholder="Type a part of the header"
			onPick=${add} />
	</div>`;
}

/** Text in which {Header} stands for the cell. @param {{text: string, onText: (text: string) => void}} props */
export function TextFromColumns({ text, onText }) {
	return html`<${FieldWithColumns} label="Text" text=${text} onText=${onText} insert=${(/** @type {string} */ h) => `{${h}}`}
		hint=${html`<span class="code">{Header}</span> stands for the cell of that column.`} />`;
}

/** A formula. @param {{label: string, text: string, onText: (text: string) => void}} props */
export function Formula({ label, text, onText }) {
	return html`<${FieldWithColumns} label=${label} text=${text} onText=${onText} insert=${(/** @type {string} */ h) => `col(${JSON.stringify(h)})`}
		hint=${html`<span class="code">col("Header")</span> is the text of a cell, <span class="code">num("Header")</span> its number, <span
			class="code">date("Header")</span> its day, <span class="code">has("Header")</span> whether it is filled.`} />`;
}

/** The conditions that need no formula: words, what is asked for, and how the formula is written. Cells are read without blanks around them.
 * @type {[string, string, ''|'text'|'list', (column: string, text: string) => string][]} */
const relations = [
	['filled', 'is filled', '', (c) => `has(${c})`],
	['empty', 'is empty', '', (c) => `!has(${c})`],
	['is', 'is', 'text', (c, t) => `col(${c}) == ${JSON.stringify(t.trim())}`],
	['is-not', 'is not', 'text', (c, t) => `col(${c}) != ${JSON.stringify(t.trim())}`],
	['one-of', 'is one of', 'list', (c, t) => `col(${c}) in [${t.split('\n').map((x) => x.trim()).filter(Boolean).map((x) => JSON.stringify(x)).join(', ')}]`],
	['has', 'contains', 'text', (c, t) => `col(${c}) contains ${JSON.stringify(t)}`],
];

/** A condition that is being put together. */
export const nothingBuilt = { column: '', relation: 'filled', text: '' };

/** The formula of what is put together; '' while something is missing. @param {typeof nothingBuilt} built */
export function pieceOf({ column, relation, text }) {
	const [, , asks, write] = relations.find(([name]) => name === relation) || relations[0];
	return column && (!asks || text.trim()) ? write(JSON.stringify(column), text) : '';
}

/** Both conditions at once. What the first one says by “or” stays together. @param {any} first @param {string} second @returns {any} */
export function both(first, second) {
	if (!first || !second) return first || second || first;
	const bare = first.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/g, '""');
	const end = /\/\/|#/.test(bare) ? '\n' : ''; // a remark ends with its line
	return `${/\|\||\bor\b|[?;#|]|\/[/*]/.test(bare) ? `(${first}${end})` : first} && ${second}`;
}

/** A condition on a row. @param {import('./editor.js').Fields & {built: typeof nothingBuilt, onBuilt: (built: typeof nothingBuilt) => void}} props */
export function Condition({ draft, onDraft, built, onBuilt }) {
	const id = useId();
	const set = (/** @type {Partial<typeof nothingBuilt>} */ change) => onBuilt({ ...built, ...change });
	const asks = relations.find(([name]) => name === built.relation)?.[2];
	const piece = pieceOf(built);
	const take = () => { onDraft(both(draft, piece)); onBuilt(nothingBuilt); };
	const text = (/** @type {any} */ e) => set({ text: e.target.value });
	return html`<fieldset class="condition"><legend>Only rows in which</legend>
			<${Picker} label="Column" items=${columnItems(state.value?.columns || [])} value=${built.column} placeholder="Type a part of the header"
				onPick=${(/** @type {string} */ column) => set({ column })} />
			<p class="field"><label for=${id + 'r'}>says</label>
				<select id=${id + 'r'} value=${built.relation} onChange=${(/** @type {any} */ e) => set({ relation: e.target.value })}>
				${relations.map(([name, words]) => html`<option value=${name}>${words}</option>`)}</select></p>
			${asks && html`<p class="field"><label for=${id + 't'}>${asks === 'list' ? 'Texts, one in each line' : 'Text'}</label>
				${asks === 'list' ? html`<textarea id=${id + 't'} rows="3" value=${built.text} onInput=${text}></textarea>`
				: html`<input id=${id + 't'} value=${built.text} onInput=${text} />`}</p>`}
			<button type="button" aria-disabled=${piece ? undefined : 'true'} onClick=${() => piece && take()}>
				${draft ? 'And this too' : 'Take this'}</button>
		</fieldset>
		<${Formula} label="The condition as a formula" text=${String(draft ?? '')}
			onText=${(/** @type {string} */ t) => onDraft(t === '' ? null : t)} />
		${draft && piece && html`<p class="faint" role="status">Together: <code>${both(draft, piece)}</code></p>`}`;
}
