// @ts-check
// Talks to the server. Every answer is JSON; every refusal becomes an ApiError with words for a person.

import { search } from './lib.js';

/** A refusal of the server, or no answer from it. */
export class ApiError extends Error {
	/** @param {number} status the HTTP status, 0 when nothing answered @param {{code?: string, message: string, hint?: string}} error
	 * @param {import('./types.js').State} [state] the present state, when the request was made for an older version */
	constructor(status, { code = '', message, hint = '' }, state) {
		super(message);
		Object.assign(this, { status, code, hint, state });
	}
}

/** Asks for something; null when the server has nothing new. @param {string} path below /api/
 * @param {Record<string, string|number|undefined>} [query] @param {AbortSignal} [signal] @returns {Promise<any>} */
export const get = (path, query = {}, signal) => ask(`${path}?${search(query)}`, { signal });

/** How many characters a browser sends surely for a page that is closed. */
const mostKept = 20_000;

/** Sends something; also when the page is being closed. @param {string} path below /api/ @param {object} body @param {AbortSignal} [signal]
 * @returns {Promise<any>} */
export function post(path, body, signal) {
	const text = JSON.stringify(body);
	return ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text, signal, keepalive: text.length < mostKept });
}

const isAway = { code: 'away', message: 'Claimsheet does not answer.',
	hint: 'Look at the window in which you started it; start it again if it has ended.' };

/** @param {string} path @param {RequestInit} request */
async function ask(path, request) {
	const { signal } = request, timeout = AbortSignal.timeout(60_000);
	let response, body;
	try {
		response = await fetch('/api/' + path, { ...request, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
		if (response.status === 204) return null;
		const text = await response.text();
		body = response.ok || text.startsWith('{') ? JSON.parse(text) : {}; // an answer that breaks off is none
	} catch (cause) {
		if (signal?.aborted) throw cause;
		throw new ApiError(0, isAway);
	}
	if (response.ok) return body;
	throw new ApiError(response.status, body.error?.message ? body.error : { message: `Claimsheet could not do this (${response.status})`,
		hint: 'what you see here may not be saved; look at the window in which you started it' }, body.state);
}
