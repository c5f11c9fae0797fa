import { AuthError, createAuthClient } from "./client.js";
import { createAccountClient, createPendingLoginClient } from "./client-account.js";
import { createPasskeyClient } from "./client-passkeys.js";
/** @throws Error when the page has no element with that id. */
const byId = (id) => {
	const found = document.getElementById(id);
	if (found === null) throw new Error(`The page has no #${id}.`);
	return found;
};
/** A new element. Strings become text, never markup. */
const make = (tag, properties, ...children) => {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children);
	return element;
};
/**
* Shows the result of an action in the live region: that of an open dialog, since nothing else is heard or seen then. A new element is
* announced even if its text is the same.
*/
const say = (text, className = "") => (document.querySelector("dialog[open] [role=status]") ?? byId("status")).replaceChildren(make("span", { className }, text));
/** Says whether it worked: browsers offer the clipboard to https and localhost only. */
const copy = async (text) => {
	try {
		await navigator.clipboard.writeText(text);
		say("Copied.");
	} catch {
		say("The browser does not allow to copy.", "bad");
	}
};
/** Runs the action when the form is sent, and shows what is wrong next to the fields. */
const onSubmit = (id, action) => {
	const form = byId(id);
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		const fields = Object.fromEntries(new FormData(form));
		clearProblems(form);
		run(form, async () => {
			await action(fields);
			form.reset();
		}).catch((error) => showError(error, form));
	});
};
/** Runs the action when the button is clicked. */
const onClick = (button, action) => button.addEventListener("click", () => {
	run(button, action).catch(showError);
});
const BASE = new URL(".", import.meta.url).pathname;
/**
* Whether the user has asked for this request: a form or a button that is busy names it in `data-sends`, such as `POST /auth/login`. Whatever
* else is sent meanwhile, a list or a renewal, the console sends by itself.
*/
const isAskedFor = ({ method, url }) => {
	const request = `${method} /${new URL(url).pathname.slice(BASE.length)}`;
	return [...document.querySelectorAll("[aria-busy=true]")].some(({ dataset }) => dataset.sends === request);
};
/** One run at a time. The element is not disabled, since it would lose the focus. */
const run = async (element, action) => {
	if (element.ariaBusy === "true") return;
	element.ariaBusy = "true";
	await action().finally(() => {
		element.ariaBusy = "false";
	});
};
const showError = (error, form) => {
	if (!(error instanceof AuthError)) {
		say(String(error), "bad");
		return;
	}
	const { code, message, retryAfter, fields } = error;
	const shown = form ? fields.filter(({ field, message: text }) => showProblem(form, field, text)) : [];
	const others = fields.filter((each) => !shown.includes(each)).map(({ field, message: text }) => `${field} ${text}`);
	const later = retryAfter === null ? [] : [`Try again in ${retryAfter} s.`];
	say([
		`${code}:`,
		message,
		...others,
		...later
	].join(" "), "bad");
	form?.querySelector("[aria-invalid]")?.focus();
};
/** @returns whether the form has such a field. */
const showProblem = (form, name, text) => {
	const input = form.elements.namedItem(name);
	if (!(input instanceof HTMLInputElement)) return false;
	const id = `${input.id}-problem`;
	input.ariaInvalid = "true";
	input.setAttribute("aria-describedby", id);
	byIdOrNew(id, input).append(`${text}. `);
	return true;
};
const byIdOrNew = (id, after) => {
	const found = document.getElementById(id);
	if (found) return found;
	const made = make("span", {
		id,
		className: "problem"
	});
	after.after(made);
	return made;
};
const clearProblems = (form) => {
	for (const problem of form.querySelectorAll(".problem")) problem.remove();
	for (const input of form.querySelectorAll("[aria-invalid]")) {
		input.removeAttribute("aria-invalid");
		input.removeAttribute("aria-describedby");
	}
};
/** The forms about an account beside its sessions. */
const showAccount = (auth, account) => {
	onSubmit("forgotten", async ({ email = "" }) => {
		await account.requestPasswordReset(email);
		say("If the address has an account, an email with a link is on its way.");
	});
	onSubmit("username", async ({ username = "" }) => {
		await account.changeUsername({ username });
		await auth.refresh();
		say("The username is changed.");
	});
	onSubmit("email", async ({ email = "", password = "" }) => {
		await account.changeEmail({
			email,
			password
		});
		say("An email with a link is on its way to the new address. The old one stays until the link is opened.");
	});
	onSubmit("removal", async ({ password = "" }) => {
		await account.remove(password);
		await auth.logout();
		say("The account is removed.");
	});
	onClick(byId("export"), async () => {
		await account.exported();
		say("The answer to the last request holds everything that is stored about the account.");
	});
};
/** `fetch` that reports what it has sent and received. */
const watchedFetch = (report) => async (input, init) => {
	const request = new Request(input, init);
	const copy = request.clone();
	const start = performance.now();
	const response = await fetch(request).catch(async (error) => {
		report({
			...await sentBy(copy),
			...UNANSWERED,
			duration: performance.now() - start,
			answer: String(error)
		});
		throw error;
	});
	const duration = performance.now() - start;
	const answer = parsed(await response.clone().text());
	report({
		...await sentBy(copy),
		status: response.status,
		code: answer?.code ?? null,
		requestId: response.headers.get("svc-request-id"),
		duration,
		answer
	});
	return response;
};
const UNANSWERED = {
	status: null,
	code: null,
	requestId: null
};
const sentBy = async (request) => ({
	method: request.method,
	url: request.url,
	token: request.headers.get("Authorization")?.replace(/^Bearer /, "") ?? null,
	body: await request.text() || null
});
const parsed = (text) => {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
};
/** Shows the secret for the app, as a picture and as text. */
const showApp = (place, { secret, uri, qr }) => place.replaceChildren(make("p", {}, "Scan this with an authenticator app, or type the secret into it."), make("img", {
	src: `data:image/svg+xml,${encodeURIComponent(qr)}`,
	alt: "QR code of the secret",
	className: "qr"
}), make("p", {}, make("code", {}, secret.replace(/.{4}(?=.)/g, "$& "))), make("p", {}, make("a", { href: uri }, "Open an app of this device")));
/** A time for people. */
const timeText = (time) => new Date(time).toLocaleString();
/** Shows an answer, unless its user has logged out meanwhile. */
const ofSameUser = async (auth, answer, show) => {
	const id = auth.user?.id;
	const arrived = await answer;
	if (auth.user?.id === id) show(arrived);
};
/** @param beside what is at the end of the item: buttons, or a mark. */
const itemOf = (title, notes, ...beside) => {
	const lines = notes.map((note) => make("p", { className: "note" }, note));
	return make("li", {}, make("div", {}, make("p", {}, title), ...lines), ...beside);
};
const FACTORS = "/users/me/factors";
/** Passkeys, authenticator apps and recovery codes. They are listed when they are unfolded. @returns a function that folds them. */
const showFactors = ({ auth, passkeys, account }) => {
	const [part, shown, newApp] = [
		byId("factors"),
		byId("factors-list"),
		byId("new-app")
	];
	const secret = byId("new-app-secret");
	let app = "";
	const forgetApp = () => {
		newApp.hidden = true;
		secret.replaceChildren();
	};
	const show = ({ passkeys: keys, totp, recoveryCodes }) => {
		shown.replaceChildren(...keys.map(passkeyItem), ...totp.map(appItem));
		byId("codes-left").textContent = `Recovery codes left: ${recoveryCodes}`;
		byId("codes-part").hidden = totp.length === 0;
		byId("factors-none").hidden = shown.childElementCount > 0;
	};
	const list = () => ofSameUser(auth, account.factors.list(), show);
	/** The button that was clicked may go away. */
	const afterwards = async (text) => {
		await list();
		byId("factors-summary").focus();
		say(text);
	};
	const passkeyItem = ({ id, name, synced, createdAt, lastUsedAt }) => {
		const used = lastUsedAt === null ? "not used yet" : `last used ${timeText(lastUsedAt)}`;
		const rename = make("button", {
			type: "button",
			ariaLabel: `Rename the passkey ${name}`
		}, "Rename");
		rename.dataset.sends = `PATCH /users/me/passkeys/${id}`;
		onClick(rename, async () => {
			const next = prompt("Name of the passkey", name);
			if (next === null) return;
			await passkeys.rename(id, next);
			await afterwards("The passkey has another name.");
		});
		const remove = make("button", {
			type: "button",
			ariaLabel: `Remove the passkey ${name}`
		}, "Remove");
		remove.dataset.sends = `DELETE /users/me/passkeys/${id}`;
		onClick(remove, async () => {
			await passkeys.remove(id);
			await afterwards("The passkey is removed.");
		});
		const notes = [`Passkey, ${synced ? "synced" : "on one device"}, added ${timeText(createdAt)}, ${used}`];
		return itemOf(name, notes, make("span", { className: "buttons" }, rename, remove));
	};
	const appItem = ({ id, createdAt }) => {
		const added = timeText(createdAt);
		const remove = make("button", {
			type: "button",
			ariaLabel: `Remove the app added ${added}`
		}, "Remove");
		remove.dataset.sends = `DELETE ${FACTORS}/${id}`;
		onClick(remove, async () => {
			await account.factors.removeApp(id);
			await afterwards("The authenticator app is removed.");
		});
		return itemOf("Authenticator app", [`added ${added}`], remove);
	};
	onClick(byId("add-passkey"), async () => {
		const { name } = await passkeys.add();
		await afterwards(`The passkey ${name} is added.`);
	});
	onClick(byId("add-app"), async () => {
		const started = await account.factors.addApp();
		app = started.id;
		showApp(secret, started);
		newApp.hidden = false;
		byId("new-app-code").focus();
	});
	onSubmit("confirm-app", async ({ code = "" }) => {
		await account.factors.confirmApp({
			id: app,
			code
		});
		forgetApp();
		await list();
		if (byId("codes").hidden) byId("factors-summary").focus();
		say("The authenticator app is added.");
	});
	onClick(byId("make-codes"), async () => {
		await account.factors.makeRecoveryCodes();
		await list();
		say("The former recovery codes are not valid any more.");
	});
	onClick(byId("list-factors"), list);
	const listIfOpen = async () => {
		if (part.open) await list();
	};
	part.addEventListener("toggle", () => void listIfOpen().catch(showError));
	return { clear: () => {
		part.open = false;
		forgetApp();
		shown.replaceChildren();
	} };
};
const PAGE = 20;
/** What happened to the account, a page at a time. @returns functions that load it if it is unfolded, and empty it. */
const showHistory = (auth, { events }) => {
	const [shown, more] = [byId("events"), byId("more-events")];
	let next = null;
	const show = (page) => {
		next = page.next;
		more.hidden = next === null;
		shown.append(...page.events.map(eventItem));
	};
	const clear = () => {
		shown.replaceChildren();
		more.hidden = true;
	};
	const load = (before) => ofSameUser(auth, events({
		limit: PAGE,
		...before !== null && { before }
	}), (page) => {
		if (before === null) clear();
		show(page);
	});
	const first = () => load(null);
	onClick(more, () => load(next));
	onClick(byId("list-events"), first);
	const firstIfSeen = async () => {
		if (shown.checkVisibility()) await first();
	};
	byId("history").addEventListener("toggle", () => void firstIfSeen().catch(showError));
	return {
		list: firstIfSeen,
		clear
	};
};
/** Kinds whose name does not say what happened. */
const MEANINGS = {
	"device-unproven": "a refresh without a proof of the device was refused",
	"device-bound": "a session got the key of its device",
	"passkey-copy-suspected": "the counter of a passkey went back: there may be a copy of it",
	"stepped-up": "the user of a session has authenticated again"
};
const eventItem = ({ kind, reason, count, at, deviceName, userAgent, address, requestId, actor }) => {
	const by = actor === null ? "" : `by an ${actor}`;
	const why = reason ?? MEANINGS[kind];
	const what = [
		kind,
		why === void 0 ? "" : `(${why})`,
		count > 1 ? `× ${count}` : "",
		by
	].filter(Boolean).join(" ");
	const where = [
		timeText(at),
		address ?? "no network",
		requestId ?? "no request"
	].join(", ");
	return itemOf(what, [where, deviceName ?? userAgent ?? "no device"]);
};
/** A word of a POSIX shell, in which no character is special. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
/** The same JSON in ASCII: a terminal could take other characters for commands, or encode them in another way. */
const inAscii = (json) => json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const withoutSecrets = (json) => JSON.stringify(JSON.parse(json), (name, value) => /password$|^(code|recoveryCode)$/i.test(name) ? "***" : value);
/**
* A command that repeats the request. Below `/auth` it uses a cookie jar, since a page can't read the browser's cookie.
* @param revealed whether it contains the passwords, the codes and the token. Otherwise the token is the variable TOKEN of the shell.
*/
const curlCommand = ({ method, url, token, body }, revealed) => [
	`curl -i -X ${method} ${quoted(url)}`,
	.../\/auth\//.test(new URL(url).pathname) ? ["-b jar -c jar"] : [],
	...token === null ? [] : [`-H ${revealed ? quoted(`Authorization: Bearer ${token}`) : AUTHORIZATION}`],
	...body === null ? [] : [`-H 'Content-Type: application/json'`],
	...body === null ? [] : [`--data-raw ${quoted(inAscii(revealed ? body : withoutSecrets(body)))}`]
].join(" \\\n  ");
const AUTHORIZATION = "\"Authorization: Bearer $TOKEN\"";
const TOKEN = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/;
const SHOWN = 16;
/** Pretty JSON, in which tokens are shortened and secrets of second factors left out, unless they are revealed. */
const prettyAnswer = (answer, revealed) => JSON.stringify(answer, (name, value) => revealed ? value : concealed(name, value), 2);
const concealed = (name, value) => {
	if (/^(secret|uri|qr)$/.test(name)) return "***";
	if (name === "recoveryCodes" && Array.isArray(value)) return value.map(() => "***");
	return typeof value === "string" && TOKEN.test(value) ? `${value.slice(0, SHOWN)}…` : value;
};
const MOST = 50;
/** The list of requests, the newest first. The last one that the user has asked for is open. @returns a function that adds one. */
const showRequests = () => {
	const [list, empty, reveal] = [
		byId("log"),
		byId("log-empty"),
		byId("reveal")
	];
	let revealed = false;
	let entries = [];
	let asked;
	reveal.addEventListener("click", () => {
		revealed = !revealed;
		reveal.ariaPressed = `${revealed}`;
		for (const { write } of entries) write(revealed);
	});
	byId("clear").addEventListener("click", () => {
		entries = [];
		list.replaceChildren();
		empty.hidden = false;
		say("The list of requests is empty.");
	});
	return (exchange) => {
		const isAsked = isAskedFor(exchange);
		const entry = entryOf(exchange, isAsked);
		entry.write(revealed);
		if (isAsked) {
			if (asked) asked.details.open = false;
			asked = entry;
		}
		entries = [entry, ...entries].slice(0, MOST);
		list.prepend(make("li", {}, entry.details));
		while (list.children.length > MOST) list.lastElementChild?.remove();
		empty.hidden = true;
	};
};
const entryOf = (exchange, isAsked) => {
	const { url, method, status, code, requestId, duration } = exchange;
	const { pathname, search } = new URL(url);
	const [command, answer] = [make("pre", {}), make("pre", {})];
	const result = make("span", { className: status !== null && status < 400 ? "good" : "bad" }, `${status ?? "failed"}`);
	const notes = [`${Math.round(duration)} ms`, ...isAsked ? [] : ["sent by the console itself"]];
	const details = make("details", { open: isAsked }, make("summary", {}, make("code", {}, `${method} ${pathname}${search}`), " ", result, " ", ...code === null ? [] : [make("code", {}, code), " "], make("span", { className: "note" }, notes.join(", "))), make("div", {}, ...requestId === null ? [] : [make("dl", {}, make("dt", {}, "Request id"), make("dd", {}, requestId))], make("h3", {}, "curl", copyButton(command, `${method} ${pathname}`)), command, make("h3", {}, "Answer"), answer));
	const write = (revealed) => {
		command.textContent = curlCommand(exchange, revealed);
		answer.textContent = prettyAnswer(exchange.answer, revealed);
	};
	return {
		details,
		write
	};
};
/** Browsers offer the clipboard to https and localhost only. */
const copyButton = (from, of) => {
	if (!navigator.clipboard) return make("span", {});
	const button = make("button", {
		type: "button",
		ariaLabel: `Copy the curl line of ${of}`
	}, "Copy");
	button.addEventListener("click", () => copy(from.textContent ?? ""));
	return button;
};
/** What gets the focus. */
const TITLES = {
	in: "tokens-title",
	out: "login-title",
	pending: "pending-title"
};
/** Shows what fits, and moves the focus if its place is hidden now. */
const showState = (state) => {
	const place = document.activeElement?.closest("[data-show]")?.dataset.show;
	for (const part of document.querySelectorAll("[data-show]")) part.hidden = part.dataset.show !== state;
	if (place && place !== state) byId(TITLES[state]).focus();
};
/** The forms of a visitor. @returns a function that begins to offer passkeys in them. */
const showLogIn = (clients) => {
	const { auth, passkeys } = clients;
	/** Nobody has asked for it, so nobody hears that the browser does not want to. */
	const offerPasskeys = () => void passkeys.logInWithPasskey({ autofill: true }).catch(unless("CLIENT_PASSKEY_REFUSED", async () => void 0)).catch(showError);
	const askForFactor = showPendingLogin(clients, offerPasskeys);
	onSubmit("login", ({ account = "", password = "" }) => auth.login({
		account,
		password
	}).catch(unless("AUTH_SECOND_FACTOR_REQUIRED", askForFactor)));
	onSubmit("register", async ({ username = "", email = "", password = "" }) => {
		if (await auth.register({
			username,
			email,
			password
		}) === null) await askForFactor().catch(unless("AUTH_SECOND_FACTOR_INVALID", async () => say(VERIFY)));
	});
	onClick(byId("login-passkey"), () => passkeys.logInWithPasskey().finally(() => auth.user ?? offerPasskeys()));
	return { offerPasskeys };
};
const VERIFY = "Open the link in the email, then log in.";
/** Does something else about one error. */
const unless = (code, instead) => async (error) => {
	if (!(error instanceof AuthError) || error.code !== code) throw error;
	await instead();
};
/** The second half of a log-in. @returns a function that begins it. */
const showPendingLogin = ({ auth, passkeys, baseUrl }, leave) => {
	const login = createPendingLoginClient({
		baseUrl,
		auth
	});
	const app = byId("pending-app");
	let options;
	const finish = (shown) => {
		const remember = byId("remember").checked;
		return login.finish(remember ? {
			...shown,
			remember
		} : shown);
	};
	onSubmit("pending", async ({ code = "", recoveryCode = "" }) => {
		await finish(recoveryCode === "" ? { code } : { recoveryCode });
		app.replaceChildren();
	});
	onClick(byId("pending-passkey"), async () => {
		const credential = await passkeys.passkeyCredential({ ...options && { options } });
		await finish({ credential });
	});
	onClick(byId("pending-back"), async () => {
		app.replaceChildren();
		showState("out");
		leave();
	});
	return async () => {
		const { methods, expiresAt, passkey, enrol } = await login.show();
		if (enrol) showApp(app, await login.addApp());
		options = passkey ?? void 0;
		app.hidden = !enrol;
		byId("pending-code-part").hidden = !enrol && !methods.includes("totp");
		byId("pending-recovery-part").hidden = !methods.includes("recovery-code");
		byId("pending-passkey").hidden = passkey === null || !passkeys.isAvailable();
		byId("pending-until").textContent = `Until ${timeText(expiresAt)}. Then log in again.`;
		showState("pending");
		say(enrol ? "This service wants a second factor. Add an authenticator app." : "The password is right.");
	};
};
/**
* Hides the parts that need what the service does not offer, or, if it does, the explanations why they are missing.
* @param own what the browser offers.
*/
const showOffers = (own) => {
	const offered = [...document.querySelector("meta[name=offers]")?.content.split(" ") ?? [], ...own];
	for (const part of document.querySelectorAll("[data-needs], [data-without]")) {
		const { needs, without = "" } = part.dataset;
		part.hidden = needs === void 0 ? offered.includes(without) : !offered.includes(needs);
	}
};
/** The card of recovery codes. @returns functions that show those of an answer that has some, and forget them. */
const showRecoveryCodes = () => {
	const [card, list] = [byId("codes"), byId("codes-list")];
	const clear = () => {
		card.hidden = true;
		list.replaceChildren();
	};
	onClick(byId("copy-codes"), () => copy([...list.children].map(({ textContent }) => textContent).join("\n")));
	onClick(byId("forget-codes"), async () => {
		clear();
		byId("factors-summary").focus();
	});
	return {
		clear,
		of: ({ answer }) => {
			const codes = answer?.data?.recoveryCodes;
			if (!Array.isArray(codes) || codes.length === 0) return;
			list.replaceChildren(...codes.map((code) => make("li", {}, make("code", {}, code))));
			card.hidden = false;
			byId("codes-title").focus();
		}
	};
};
const BOUND = {
	none: "not bound to a device",
	device: "bound to a key of a page on its device",
	browser: "bound to a key of its browser"
};
/** The list of sessions. @returns functions that load and empty it. */
const showSessions = (auth) => {
	const { sessions } = auth;
	const show = (...items) => byId("sessions").replaceChildren(...items);
	const list = () => ofSameUser(auth, sessions.list(), (found) => show(...found.map(sessionItem)));
	/** The button that was clicked goes away with its session. */
	const afterwards = async (text) => {
		await list();
		byId("sessions-title").focus();
		say(text);
	};
	const sessionItem = (session) => {
		const { id, name, userAgent, address, createdAt, lastUsedAt, binding, current, remembered } = session;
		const device = name ?? userAgent ?? "unknown program";
		const ariaLabel = remembered ? `Forget the device ${device}, remembered ${timeText(createdAt)}` : `End the session of ${device}, opened ${timeText(createdAt)}`;
		const end = make("button", {
			type: "button",
			ariaLabel
		}, remembered ? "Forget" : "End");
		end.dataset.sends = `DELETE /auth/sessions/${id}`;
		onClick(end, async () => {
			await sessions.end(id);
			await afterwards(remembered ? "The device is forgotten." : "The session has ended.");
		});
		const notes = [`${address ?? "unknown network"}, ${remembered ? "since" : "opened"} ${timeText(createdAt)}, last used ${timeText(lastUsedAt)}`, remembered ? "remembered device: it is asked for the password alone" : BOUND[binding]];
		const item = itemOf(device, notes, current ? make("span", { className: "good" }, "This session") : end);
		item.title = userAgent ?? "";
		return item;
	};
	onClick(byId("list-sessions"), list);
	onClick(byId("end-others"), async () => {
		await sessions.endOthers();
		await afterwards("All other sessions have ended.");
	});
	return {
		list,
		clear: show
	};
};
const DONE = "done";
/** The dialog in which the user shows something again. */
const showStepUp = (auth, passkeys) => {
	const dialog = byId("step-up");
	let closing = new AbortController();
	dialog.addEventListener("close", () => closing.abort());
	onSubmit("step-up-form", async ({ password = "", code = "" }) => {
		await auth.stepUp(byId("step-up-password-part").hidden ? { code } : { password });
		dialog.close(DONE);
	});
	onClick(byId("step-up-passkey"), async () => {
		const { signal } = closing;
		const credential = await passkeys.passkeyCredential({ signal }).catch((error) => {
			if (!signal.aborted) throw error;
		});
		if (!credential) return;
		await auth.stepUp({ credential });
		dialog.close(DONE);
	});
	const cancel = () => dialog.close();
	onClick(byId("step-up-cancel"), async () => cancel());
	const open = (reason) => {
		const needsFactor = reason === "second-factor";
		closing = new AbortController();
		byId("step-up-form").reset();
		byId("step-up-status").replaceChildren();
		byId("step-up-password-part").hidden = needsFactor;
		byId("step-up-code-part").hidden = !needsFactor;
		byId("step-up-reason").textContent = REASONS[reason];
		dialog.returnValue = "";
		dialog.showModal();
		return new Promise((resolve, reject) => {
			const settle = () => {
				if (dialog.returnValue === DONE) resolve();
				else reject(new AuthError("AUTH_STEP_UP_REQUIRED", "You have not confirmed that it is you."));
			};
			dialog.addEventListener("close", settle, { once: true });
		});
	};
	return {
		ask: open,
		cancel
	};
};
const REASONS = {
	recent: "You were last asked for the password some minutes ago. Enter it, or use a passkey.",
	"second-factor": "The second factor was not shown in this session, or some minutes ago. Enter a code, or use a passkey."
};
/** @returns the milliseconds that are left of so many from now on, also after the machine was asleep or its clock was set. */
const countdown = (milliseconds) => {
	const [start, at] = [performance.now(), Date.now()];
	return () => Math.max(0, milliseconds - Math.max(performance.now() - start, Date.now() - at));
};
const UNITS = [
	["d", 86400],
	["h", 3600],
	["min", 60],
	["s", 1]
];
/** The two largest units, as `14 min 32 s`. */
const durationText = (milliseconds) => {
	let rest = Math.ceil(milliseconds / 1e3);
	const parts = [];
	for (const [name, seconds] of UNITS) {
		const count = Math.floor(rest / seconds);
		rest -= count * seconds;
		if (count > 0 || parts.length > 0) parts.push(`${count} ${name}`);
	}
	return parts.slice(0, 2).join(" ") || "0 s";
};
/** Below this share a bar has the colour of a warning. */
const LOW = .2;
/**
* The bars and the claims. Both tokens are issued at once, so the lifetimes of both are counted from the arrival of the access token.
* @param refreshLifetime in milliseconds.
* @returns a function that shows an access token that has just arrived.
*/
const showTokens = (refreshLifetime) => {
	let tick = () => void 0;
	setInterval(() => tick(), 1e3);
	return (token) => {
		const [header, claims] = token.split(".").slice(0, 2).map(decoded);
		const bars = [bar("access", (claims.exp - claims.iat) * 1e3), bar("refresh", refreshLifetime)];
		tick = () => {
			for (const show of bars) show();
		};
		tick();
		byId("claims").replaceChildren(...Object.entries({
			...claims,
			sid: header.sid
		}).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, claimText(name, value))]));
	};
};
const decoded = (part) => JSON.parse(atob(part.replaceAll("-", "+").replaceAll("_", "/")));
const claimText = (name, value) => {
	if (name === "iat" || name === "exp") return `${value} (${(/* @__PURE__ */ new Date(Number(value) * 1e3)).toLocaleString()})`;
	return typeof value === "string" ? value : JSON.stringify(value, null, 1);
};
const bar = (token, lifetime) => {
	const [progress, text] = [byId(`${token}-bar`), byId(`${token}-left`)];
	const left = countdown(lifetime);
	progress.max = lifetime;
	return () => {
		progress.value = left();
		progress.classList.toggle("low", left() < lifetime * LOW);
		text.textContent = left() > 0 ? `${durationText(left())} left of ${durationText(lifetime)}` : `expired, after ${durationText(lifetime)}`;
	};
};
const SAID = {
	login: "Logged in.",
	refresh: "Both tokens are new.",
	logout: "Logged out.",
	ended: "The service has refused the session. Log in again."
};
byId("refused").remove();
byId("who").textContent = "Looking for a session…";
const baseUrl = new URL(".", import.meta.url).href;
const codes = showRecoveryCodes();
const report = showRequests();
const send = watchedFetch((exchange) => {
	report(exchange);
	codes.of(exchange);
});
const auth = createAuthClient({
	baseUrl,
	fetch: send,
	onStepUp: (reason) => stepUp.ask(reason)
});
const passkeys = createPasskeyClient({
	baseUrl,
	auth
});
const stepUp = showStepUp(auth, passkeys);
const showToken = showTokens(Number(document.querySelector("meta[name=refresh-lifetime]")?.content));
const sessions = showSessions(auth);
const account = createAccountClient({
	baseUrl,
	fetch: auth.fetch
});
const history = showHistory(auth, account);
const factors = showFactors({
	auth,
	passkeys,
	account
});
const logIn = showLogIn({
	auth,
	passkeys,
	baseUrl
});
showAccount(auth, account);
showOffers(passkeys.isAvailable() ? ["passkeys"] : []);
const show = (user) => {
	showState(user ? "in" : "out");
	byId("who").textContent = user ? `${user.username}, ${user.email}` : "Nobody is logged in.";
	byId("password-account").value = user?.username ?? "";
	if (!user) logIn.offerPasskeys();
};
/** Whose sessions are listed. */
let listed = null;
/** Nobody sees what belongs to the user before. The recovery codes of a log-in come before its user. */
const leave = () => {
	stepUp.cancel();
	for (const { clear } of [
		sessions,
		history,
		factors,
		...listed === null ? [] : [codes]
	]) clear();
};
/** For each log-in, renewal and log-out, in this tab or another. */
const follow = async (user, why) => {
	if (listed !== user?.id) leave();
	show(user);
	say(SAID[why], why === "ended" ? "bad" : "");
	const token = user && await auth.accessToken();
	if (token) showToken(token);
	const isListed = why !== "login" && listed === user?.id;
	listed = user?.id ?? null;
	if (token && !isListed) await Promise.all([sessions.list(), history.list()]);
};
auth.onChange((user, why) => void follow(user, why).catch(showError));
auth.ready.then(show, (error) => {
	show(null);
	showError(error);
});
onSubmit("password", async ({ currentPassword = "", newPassword = "" }) => {
	await auth.changePassword({
		currentPassword,
		newPassword
	});
	await Promise.all([sessions.list(), history.list()]);
	say("The password is changed, and all other sessions have ended.");
});
onClick(byId("logout"), auth.logout);
onClick(byId("refresh"), auth.refresh);
for (const [id, path] of [["protected", "users/me"], ["optional", "auth/session"]]) onClick(byId(id), async () => {
	const { status } = await (byId("with-token").checked ? auth.fetch : send)(baseUrl + path);
	say(`GET /${path}: ${status}`, status < 400 ? "" : "bad");
});
