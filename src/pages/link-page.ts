import { html, type Markup, page } from '../kernel/html'

/** The rules of a password, for the label of its field. */
const CHOOSE = 'New password, 8 to 200 characters'

/** Fields for a new password; the address is there for password managers. */
const newPasswordFields = (email: string): Markup => html`
<input class="quiet" type="email" name="email" autocomplete="username" aria-label="E-mail address" readonly value="${email}">
<label for="new-password">${CHOOSE}</label>
<input id="new-password" name="new_password" type="password" autocomplete="new-password" minlength="8" required>`

/** What a sign-in link opens: its script posts what follows the `#`, which the server has not seen yet. */
export const linkStartPage = (script: string): string =>
  page(
    'Sign in',
    html`<h1>One moment</h1>
<noscript><p>This page needs JavaScript to read your link. Without it, <a href="/sign-in">sign in with a password</a>.</p></noscript>
<p class="faint">Nothing happens? The link is incomplete: open it again from where you got it.</p>`,
    { script },
  )

type Entrance = { email: string; token: string; problem: string | null; mustChoose: boolean; script: string }

/** Whom a link signs in. It is used up only by a press, so that no program that looks at links does. */
export const linkPage = ({ email, token, problem, mustChoose, script }: Entrance): string =>
  page(
    'Sign in',
    html`<h1>Sign in as ${email}</h1>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
<p>This link works once.</p>
${
  !mustChoose &&
  html`<form method="post" action="/sign-in/link">
<input type="hidden" name="token" value="${token}">
<button type="submit" name="step" value="sign-in">Sign in</button>
</form>
<h2>Or set a new password</h2>
<p>It ends all your other sessions.</p>`
}
<form method="post" action="/sign-in/link">
<input type="hidden" name="token" value="${token}">${newPasswordFields(email)}
<button type="submit" name="step" value="password"${!mustChoose && { markup: ' class="quiet"' }}>Set the password and sign in</button>
</form>`,
    { script },
  )

/** How whoever runs the server gets people in, where it sends no mail. */
const ASK = html`Ask the operator of this server for a new link: <code>svc-admin users link</code> creates one.`

export const linkOverPage = (canMail: boolean, script: string): string =>
  page(
    'Sign in',
    html`<h1>This link does not work</h1>
<p>It was already used, or it has expired.</p>
${canMail ? linkForm('', 'Send a new link to') : html`<p>${ASK}</p>`}
<p>If you have a password, <a href="/sign-in">sign in with it</a>.</p>`,
    { script },
  )

/** Asks for a link by mail. */
const linkForm = (email: string, label: string): Markup => html`<form method="post" action="/sign-in/mail">
<label for="link-email">${label}</label>
<input id="link-email" name="email" type="email" autocomplete="username" maxlength="254" required value="${email}">
<button class="quiet" type="submit">Send me a link</button>
</form>`

/** What to do without the password. */
export const forgotten = (canMail: boolean, email: string): Markup => html`<h2>No password, or forgot it?</h2>
${canMail ? linkForm(email, 'We send a sign-in link to') : html`<p>${ASK}</p>`}`

/** The same for every address, so that it does not tell who has an account. */
export const mailedPage = (email: string): string =>
  page(
    'Sign in',
    html`<h1>Check your e-mail</h1>
<p>If ${email} has an account here, a link is on its way. It works once, within 15 minutes.</p>
<p><a href="/sign-in">Back</a></p>`,
  )
