// @ts-check
// Texts with columns in them, formulas, and conditions: a field, a way to insert a column, and for conditions a short form in plain words.

import { html, useId, useRef, useState } from './lib.js';
import { columnItems, Picker } from './picker.js';
import { state } from './store.js';
import { SelectField } from './ui.js';

/** A field into which columns can be inserted at the cursor.
 * @param {{label: string, text: string, hint: any, insert: (header: string) => string, onText: (text: string) => void}} props */
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

/** A condition on a row. @param {import('./editor.js').Fields} props */
export function Condition({ draft, onDraft }) {
	const id = useId();
	const [{ column, relation, text }, set] = useState({ column: '', relation: 'filled', text: '' });
	const change = (/** @type {object} */ to) => set((old) => ({ ...old, ...to }));
	const [, , asks, write] = relations.find(([name]) => name === relation) || relations[0];
	const piece = column && (!asks || text.trim()) ? write(JSON.stringify(column), text) : '';
	const take = () => { onDraft(draft ? `(${draft}) && ${piece}` : piece); set({ column: '', relation: 'filled', text: '' }); };
	const type = (/** @type {any} */ e) => change({ text: e.target.value });
	return html`<fieldset class="condition"><legend>Only rows in which</legend>
			<${Picker} label="Column" items=${columnItems(state.value?.columns || [])} value=${column} placeholder="Type a part of the header"
				onPick=${(/** @type {string} */ to) => change({ column: to })} />
			<${SelectField} label="says" value=${relation} options=${relations} onPick=${(/** @type {string} */ to) => change({ relation: to })} />
			${asks && html`<p class="field"><label for=${id + 't'}>${asks === 'list' ? 'Texts, one in each line' : 'Text'}</label>
				${asks === 'list' ? html`<textarea id=${id + 't'} rows="3" value=${text} onInput=${type}></textarea>`
				: html`<input id=${id + 't'} value=${text} onInput=${type} />`}</p>`}
			<button type="button" aria-disabled=${piece ? undefined : 'true'} onClick=${() => piece && take()}>
				${draft ? 'And this too' : 'Take this'}</button>
		</fieldset>
		<${Formula} label="The condition as a formula" text=${String(draft ?? '')}
			onText=${(/** @type {string} */ t) => onDraft(t === '' ? null : t)} />`;
}

/** At which activity a client goes on: always the same one, or the one that a column names. @param {import('./editor.js').Fields} props */
export function Resume({ target, draft, onDraft }) {
	const id = useId();
	const byColumn = typeof draft === 'object' && draft !== null;
	const names = [...new Set((state.value?.targets || []).filter((t) => /^\/activities\/\d+\//.test(t.path)).map((t) => t.of || ''))];
	return html`<fieldset class="ways"><legend>Clients go on</legend>
			<label><input type="radio" name=${id} checked=${!byColumn} onChange=${() => onDraft(names[0] || '')} /><span>At one activity</span></label>
			<label><input type="radio" name=${id} checked=${byColumn} onChange=${() => onDraft({ column: '' })} /><span>As a column says</span></label>
		</fieldset>
		${byColumn
			? html`<${Picker} label="Column" items=${columnItems(state.value?.columns || [])} value=${/** @type {{column: string}} */ (draft).column}
				onPick=${(/** @type {string} */ column) => onDraft({ column })} />`
			: html`<${SelectField} label=${target.title} value=${String(draft ?? '')} options=${[['', 'the first open one'], ...names.map((n) => [n, n])]}
				onPick=${(/** @type {string} */ name) => onDraft(name || null)} />`}`;
}
