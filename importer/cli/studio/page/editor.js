// @ts-check
// The editor of one rule: how the value is made, how the cell is read, what comes out of it, and what to do with cells in trouble.
// A change is a draft with a live result until it is used.

import { post } from './api.js';
import { Fixes, useCells } from './fix.js';
import { Condition, Formula, TextFromColumns } from './formula.js';
import { html, useId, useMemo, useState } from './lib.js';
import { Options } from './options.js';
import { columnItems, Picker } from './picker.js';
import { Preview } from './preview.js';
import { changes, editorOf, members, nameOf, numberForms, optionsOf, removal, same, sourceOf, sources, withMember, withSource } from './rule.js';
import { Questions } from './questions.js';
import { Resume } from './resume.js';
import { link } from './route.js';
import { isJudged, patch, state, targetNear } from './store.js';
import { Problems, useLoaded, Verdict, Waiting } from './ui.js';
import { count, number } from './words.js';

/** @typedef {import('./types.js').Rule} Rule */
/** @typedef {import('./types.js').Target} Target */
/** @typedef {{target: Target, draft: Rule, onDraft: (draft: Rule) => void}} Fields */

/** The targets whose result can be shown before they are used. */
const previewed = ['value', 'condition', 'text'];

/** @param {{target: Target}} props */
export function RuleEditor({ target }) {
	const [draft, setDraft] = useDraft(target.rule);
	const cells = useCells(target);
	const kind = editorOf(target);
	const changed = !same(draft, target.rule);
	const complete = isComplete(draft);
	const Body = bodies[kind];
	const use = (/** @type {Event} */ e) => {
		e.preventDefault();
		if (changed && complete) patch(labelOf(target, draft), changes(target, draft));
	};
	const mistakes = (state.value?.mapping.problems || []).filter((p) => targetNear(p.path) === target.path);
	const questions = (state.value?.mapping.questions || []).filter((q) => q.path === target.path || q.path.startsWith(target.path + '/'));
	if (cells.loading && !cells.answer) return html`<${Waiting} of=${cells} what="the cells" />`; // else what comes late would push the fields away
	return html`<form class="editor" onSubmit=${use}
		onKeyDown=${(/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) use(e); }}>
		<${Problems} list=${mistakes} />
		<${Questions} list=${questions} />
		${(target.usable || 0) + (target.trouble || 0) > 0 && html`<${Verdict} ...${target} />`}
		${kind === 'value' && !changed && html`<${Fixes} target=${target} cells=${cells.answer || []} />`}
		<${Body} target=${target} draft=${draft} onDraft=${setDraft} />
		<div class="actions">
			<button type="submit" class="main" disabled=${!changed || !complete}>Use this</button>
			${changed && html`<button type="button" onClick=${() => setDraft(target.rule)}>Put back</button>`}
			${target.rule !== null && !changed
				&& html`<button type="button" class="quiet"
				onClick=${() => patch(`${nameOf(target)} taken away`, removal(target))}>Take away</button>`}
			${target.line && html`<a href=${link('file', { line: target.line })}>Line ${target.line} of the file</a>`}
		</div>
		${previewed.includes(kind) && complete && html`<${Preview} target=${target} rule=${draft} />`}
	</form>`;
}

/** A draft that begins again when the rule changes. @param {Rule} rule @returns {[Rule, (draft: Rule) => void]} */
function useDraft(rule) {
	const now = JSON.stringify(rule);
	const [kept, keep] = useState({ from: now, draft: rule });
	const draft = kept.from === now ? kept.draft : rule;
	return [draft, (next) => keep({ from: now, draft: next })];
}

/** Reports whether a rule says enough to be used. @param {Rule} rule */
function isComplete(rule) {
	if (rule === null || rule === undefined || rule === '') return false;
	if (typeof rule !== 'object') return true;
	if (Array.isArray(rule)) return rule.length > 0;
	const way = sources.find(([name]) => name in rule)?.[0];
	const said = way ? rule[way] : rule;
	return said !== undefined && said !== '' && !(Array.isArray(said) && !said.length);
}

/** What the history calls a change. @param {Target} target @param {Rule} rule */
function labelOf(target, rule) {
	const all = members(rule);
	const made = editorOf(target) === 'value' ? { column: all.column, value: `“${all.value}”`, text: all.text, first_of: (all.first_of
		|| []).join(', '), expr: all.expr }[sourceOf(rule)] : typeof rule === 'object' ? JSON.stringify(rule) : rule;
	return `${nameOf(target)} ← ${made}`.slice(0, 120);
}

/** The editor of a value: one of five ways to make it. @param {Fields} props */
function ValueFields({ target, draft, onDraft }) {
	const id = useId();
	const source = sourceOf(draft);
	const Source = { column: ColumnSource, value: ConstantSource, text: TextSource, first_of: FirstOfSource, expr: FormulaSource }[source];
	return html`<fieldset class="ways"><legend>Made from</legend>${sources.map(([name, words]) => html`
			<label key=${name}><input type="radio" name=${id} checked=${name === source} onChange=${() => onDraft(withSource(draft, name))} />
				<span>${words}</span></label>`)}</fieldset>
		<${Source} target=${target} draft=${draft} onDraft=${onDraft} />
		<${Options} target=${target} draft=${draft} onDraft=${onDraft} />`;
}

/** @param {Fields} props */
function ColumnSource({ draft, onDraft }) {
	const items = useMemo(() => columnItems(state.value?.columns || []), [state.value?.columns]);
	return html`<${Picker} label="Column" items=${items} value=${members(draft).column || ''} placeholder="Type a part of the header"
		onPick=${(/** @type {string} */ c) => onDraft(withMember(draft, 'column', c))} />`;
}

/** @param {Fields} props */
function ConstantSource({ target, draft, onDraft }) {
	const id = useId();
	const value = members(draft).value;
	const set = (/** @type {any} */ v) => onDraft(withMember(draft, 'value', v));
	if (target.options) return html`<p class="field"><label for=${id}>Value for everyone</label>
		<select id=${id} value=${value} onChange=${(/** @type {any} */ e) => set(e.target.value)}>
		<option value="">Choose …</option>${target.options.map((o) => html`<option value=${o}>${o}</option>`)}</select></p>`;
	if (target.type === 'Checkbox') return html`<p class="field"><label for=${id}>Value for everyone</label>
		<select id=${id} value=${String(value)} onChange=${(/** @type {any} */ e) => set(e.target.value === '' ? '' : e.target.value === 'true')}>
		<option value="">Choose …</option><option value="true">Yes, ticked</option><option value="false">No, not ticked</option></select></p>`;
	return html`<p class="field"><label for=${id}>Value for everyone</label>
		<input id=${id} value=${value} onInput=${(/** @type {any} */ e) => set(e.target.value)} /></p>`;
}

/** @param {Fields} props */
const TextSource = ({ draft, onDraft }) => html`<${TextFromColumns} text=${members(draft).text || ''}
	onText=${(/** @type {string} */ t) => onDraft(withMember(draft, 'text', t))} />`;

/** @param {Fields} props */
const FormulaSource = ({ draft, onDraft }) => html`<${Formula} label="Formula" text=${members(draft).expr || ''}
	onText=${(/** @type {string} */ t) => onDraft(withMember(draft, 'expr', t))} />`;

/** @param {Fields} props */
const FirstOfSource = ({ draft, onDraft }) => html`<${OrderedColumns} label="Columns, the first filled one is taken"
	list=${members(draft).first_of || []} onList=${(/** @type {string[]} */ l) => onDraft(withMember(draft, 'first_of', l))} />`;

/** Columns that together say who is who. @param {Fields} props */
function ColumnsFields({ target, draft, onDraft }) {
	const list = draft === null ? [] : [/** @type {any} */ (draft)].flat();
	return html`<${OrderedColumns} label="Rows belong together when these columns say the same" list=${list}
			onList=${(/** @type {string[]} */ l) => onDraft(l.length === 1 ? l[0] : l)} />
		${target.path === '/client/key' && list.length > 0 && html`<${Key} list=${list} />`}`;
}

/** What a key makes of the whole sheet, before it is used. @param {{list: string[]}} props */
function Key({ list }) {
	const asked = useLoaded((signal) => post('preview', { path: '/client/key', value: list }, signal), [list.join('\n'), isJudged.value], 250);
	const made = /** @type {{rows: number, empty: number, clients: number, disagree: number, error?: {message: string}}|null} */ (asked.answer);
	if (!made) return html`<${Waiting} of=${asked} what="the rows" />`;
	if (made.error) return html`<p class="bad-text">${made.error.message}</p>`;
	return html`<p role="status">${count(made.rows, 'row')} → ${count(made.clients, 'client')}${made.empty > 0 && `, ${count(made.empty, 'row')} without a key or left out`},
		${made.disagree > 0
			? html` <span class="warn-text">${number(made.disagree)} with rows that disagree about the client</span>`
			: ' and no rows of one client disagree'}</p>`;
}

/** A list of columns in an order. @param {{label: string, list: string[], onList: (list: string[]) => void}} props */
function OrderedColumns({ label, list, onList }) {
	const items = columnItems(state.value?.columns || []).filter((i) => !list.includes(i.value));
	const move = (/** @type {number} */ from, /** @type {number} */ to) => { const next = [...list]; next.splice(to, 0, ...next.splice(from, 1)); onList(next); };
	return html`<fieldset class="ordered"><legend>${label}</legend>
		<ol>${list.map((name, n) => html`<li key=${name}><span>${name}</span>
			<button type="button" class="quiet" disabled=${n === 0} aria-label=${`Move ${name} up`} onClick=${() => move(n, n - 1)}>↑</button>
			<button type="button" class="quiet" disabled=${n === list.length - 1} aria-label=${`Move ${name} down`}
				onClick=${() => move(n, n + 1)}>↓</button>
			<button type="button" class="quiet" aria-label=${`Remove ${name}`} onClick=${() => onList(list.filter((c) => c !== name))}>✕</button>
				</li>`)}</ol>
		<${Picker} key=${list.join()} label=${list.length ? 'Add a column' : 'Column'} items=${items} placeholder="Type a part of the header"
			onPick=${(/** @type {string} */ c) => onList([...list, c])} />
	</fieldset>`;
}

/** @param {Fields} props */
function ColumnField({ draft, onDraft }) {
	return html`<${Picker} label="Column" items=${columnItems(state.value?.columns || [])} value=${String(draft ?? '')}
		placeholder="Type a part of the header" onPick=${onDraft} />`;
}

/** A text that may also be {text, values}. @param {Fields} props */
function WholeText({ draft, onDraft }) {
	const isObject = typeof draft === 'object' && draft !== null && !Array.isArray(draft);
	const text = isObject ? draft.text : draft;
	return html`<${TextFromColumns} text=${String(text ?? '')}
		onText=${(/** @type {string} */ t) => onDraft(isObject ? { ...draft, text: t } : t)} />`;
}

/** Texts, one in each line. What is typed stays as it is; empty lines are no texts. @param {Fields} props */
function ListField({ draft, onDraft }) {
	const id = useId();
	const list = Array.isArray(draft) ? draft : draft ? [draft] : [];
	const [typed, setTyped] = useState('');
	const text = same(textsOf(typed), list) ? typed : list.join('\n');
	const type = (/** @type {any} */ e) => { setTyped(e.target.value); onDraft(textsOf(e.target.value)); };
	return html`<p class="field"><label for=${id}>Texts, one in each line</label>
		<textarea id=${id} rows=${Math.max(3, list.length + 1)} value=${text} onInput=${type}></textarea></p>`;
}

/** @param {string} text */
const textsOf = (text) => text.split('\n').filter((line) => line.trim() !== '');

/** @param {Fields} props */
function ChoiceField({ target, draft, onDraft }) {
	const id = useId();
	return html`<fieldset class="ways"><legend>${target.title}</legend>${(optionsOf(target) || []).map((o) => html`
		<label key=${o}><input type="radio" name=${id} checked=${draft === o} onChange=${() => onDraft(o)} /><span>${o}</span></label>`)}</fieldset>`;
}

/** How numbers are written in texts. @param {Fields} props */
function NumbersField({ draft, onDraft }) {
	const id = useId();
	return html`<fieldset class="ways"><legend>Numbers in texts look like</legend>${numberForms.map(([example, form]) => html`
		<label key=${example}><input type="radio" name=${id} checked=${same(draft, form)} onChange=${() => onDraft(form)} />
			<span class="code">${example}</span></label>`)}</fieldset>`;
}

/** @param {Fields} props */
function YesNoField({ target, draft, onDraft }) {
	return html`<p><label class="check">
		<input type="checkbox" checked=${draft === true} onChange=${(/** @type {any} */ e) => onDraft(e.target.checked)} /> ${target.title}
		</label></p>`;
}

/** @param {Fields} props */
function PlainField({ target, draft, onDraft }) {
	const id = useId();
	return html`<p class="field"><label for=${id}>${target.title}</label>
		<input id=${id} value=${String(draft ?? '')}
		onInput=${(/** @type {any} */ e) => onDraft(e.target.value === '' ? null : e.target.value)} /></p>`;
}

const bodies = {
	value: ValueFields, columns: ColumnsFields, column: ColumnField, condition: Condition, text: WholeText, list: ListField,
	numbers: NumbersField, resume: Resume, choice: ChoiceField, yesno: YesNoField, plain: PlainField,
};
