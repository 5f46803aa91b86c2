// @ts-check
// What the page knows: the server's state, what is under way, and what to say to the person. All changes go through here.

import { get, post, ApiError } from './api.js';
import { batch, computed, signal } from './lib.js';

/** @typedef {import('./types.js').State} State */
/** @typedef {import('./types.js').Operation} Operation */

/** The server's state; null before the first answer.
 * @type {import('./lib.js').Signal<State|null>} */
export const state = signal(/** @type {State|null} */ (null));

/** The last sentence for the person, read aloud by screen readers.
 * @type {import('./lib.js').Signal<{kind: 'said'|'refused', text: string, hint?: string, code?: string}|null>} */
export const notice = signal(/** @type {any} */ (null));

/** The server does not answer. */
export const away = signal(false);

/** Columns by their letter. */
export const columnsByLetter = computed(() => new Map((state.value?.columns || []).map((c) => [c.letter, c])));

/** Targets by their path. */
export const targetsByPath = computed(() => new Map((state.value?.targets || []).map((t) => [t.path, t])));

/** The verdict is of the present mapping and of all rows. */
export const isJudged = computed(() => {
	const j = state.value?.judgement;
	return Boolean(j && !j.reading && j.complete && j.done >= j.rows);
});

/** The target at a path. An activity that was named by its template until the mapping had it is found by its new path.
 * @param {string|undefined} path @returns {import('./types.js').Target|undefined} */
export function targetAt(path) {
	const found = targetsByPath.value.get(path || '');
	const [, template, rest] = /^\/activities\/template=([^/]*)(\/.*)$/.exec(path || '') || [];
	if (found || !template) return found;
	const name = template.replaceAll('~1', '/').replaceAll('~0', '~');
	return state.value?.targets.find((t) => t.group === 'activity' && t.of === name && t.path.endsWith(rest));
}

/** The path of the target that a place of the mapping belongs to: that place, the nearest one above it, or the first one below it.
 * @param {string|null|undefined} path @returns {string|undefined} */
export function targetNear(path) {
	if (!path) return undefined;
	const all = targetsByPath.value;
	for (let at = path; at; at = at.slice(0, at.lastIndexOf('/'))) if (all.has(at)) return at;
	return [...all.keys()].find((at) => at.startsWith(path + '/'));
}

/** Problems of the mapping, mistakes first. */
export const problems = computed(() => [...(state.value?.mapping.problems || []), ...(state.value?.mapping.warnings || [])]);

/** @param {string} text @param {string} [hint] */
export function say(text, hint) {
	notice.value = { kind: 'said', text, hint };
}

/** Says why something was refused. @param {unknown} error */
export function refuse(error) {
	if (error instanceof ApiError && error.code === 'changed-on-disk') notice.value = null; // the state says it too, and asks
	else if (error instanceof ApiError) notice.value = { kind: 'refused', text: error.message, hint: error.hint, code: error.code };
	else notice.value = { kind: 'refused', text: String(error) };
}

/** Takes a state unless a newer one is here already. @param {State} next */
function take(next) {
	const old = state.peek();
	if (old && (next.version < old.version || (next.version === old.version && next.progress < old.progress))) return;
	state.value = next;
}

/** The change before; each waits for it, so that quick hands lose nothing. @type {Promise<any>} */
let before = Promise.resolve();

/**
 * Sends a change that is made for the version that the person saw.
 * @param {string} path below /api/
 * @param {object} body without the version
 * @param {string} [done] what to say when it is done
 * @returns {Promise<boolean>} whether it was done
 */
function change(path, body, done) {
	const sent = before.then(() => send(path, body, done));
	before = sent;
	return sent;
}

/** @param {string} path @param {object} body @param {string} [done] @returns {Promise<boolean>} */
async function send(path, body, done) {
	try {
		const next = await post(path, { version: state.peek()?.version, ...body });
		batch(() => {
			take(next);
			if (done) say(done);
			else notice.value = null;
		});
		return true;
	} catch (error) {
		if (error instanceof ApiError && error.state) take(error.state);
		refuse(error);
		return false;
	}
}

/** @param {string} label what the history calls it @param {Operation[]} operations */
export const patch = (label, operations) => change('patch', { label, operations }, label);

/** @param {string} text the whole file */
export const replaceText = (text) => change('text', { text }, 'The file is taken as you wrote it.');

/** @param {number} [to] the version to go back to; default one step */
export const undo = (to) => change('undo', to === undefined ? {} : { to }, 'Undone.');

/** @param {number} [to] */
export const redo = (to) => change('redo', to === undefined ? {} : { to }, 'Done again.');

/** Answers a question of a first mapping: its comment goes. @param {number} line */
export const decide = (line) => change('decide', { line }, 'Decided.');

/** Takes what an earlier session left unsaved, or drops it. @param {boolean} take */
export const draft = (take) => change('draft', { take }, take ? 'These are the changes of last time.' : 'The changes of last time are dropped.');

/** Writes the mapping to its file. @param {boolean} [overwrite] also when another program changed the file */
export const save = (overwrite = false) => change('save', { overwrite }, `Saved to ${state.peek()?.mapping.path}.`);

/** Takes the file as it is on the disk. */
export const reload = () => change('reload', {}, 'The file is read from the disk.');

/** @param {{sheet: string, name: string, headerRow: number}} choice */
export const chooseSheet = (choice) => change('sheet', choice, `Row ${choice.headerRow} of “${choice.name}” names the columns.`);

/** @param {string} column its letter @param {boolean} ignored */
export const ignore = (column, ignored) =>
	change('ignore', { column, ignored }, ignored ? `Column ${column} is left out on purpose.` : `Column ${column} is open again.`);

/** @param {'dry-run'|'sandbox'} kind */
export const startJob = (kind) => change('job', { kind });

/** Stops the job under way. */
export const cancelJob = () => change('job/cancel', {}, 'Stopped.');

/** Follows the server's state for as long as the page is open; asks slowly while the server is away. */
export async function follow() {
	addEventListener('pagehide', () => navigator.sendBeacon('/api/bye'));
	for (;;) {
		const now = state.peek();
		try {
			const next = await get('state', { since: now ? `${now.version}.${now.progress}` : undefined });
			if (next) take(next);
			away.value = false;
		} catch (error) {
			if (!now) refuse(error);
			away.value = true;
			await new Promise((done) => setTimeout(done, 2000));
		}
	}
}
