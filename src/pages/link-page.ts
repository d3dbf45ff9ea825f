import type { OpenInvitation } from '../accounts'
import { html, type Markup, page } from '../kernel/html'

/** The rules of a password, for the label of its field. */
const CHOOSE = 'New password, 8 to 200 characters'

/** Fields for a new password. The e-mail address helps password managers. */
const newPasswordFields = (email: string): Markup => html`
<label for="own-email">E-mail address</label>
<input id="own-email" class="quiet" type="email" name="email" autocomplete="username" readonly value="${email}">
<label for="new-password">${CHOOSE}</label>
<input id="new-password" name="new_password" type="password" autocomplete="new-password" minlength="8" required>`

/** The prefix of this server's paths, and the script of this page. */
type At = { base: string; script: string }

/** The page that a link opens. Its script posts the part after the `#`, which the server has not received yet. */
export const linkStartPage = ({ base, script }: At): string =>
  page(
    'Sign in',
    html`<h1>One moment</h1>
<noscript><p>This page needs JavaScript to read your link. Without it, <a href="${base}/console/sign-in">sign in with a password</a>.</p></noscript>
<p class="faint">Nothing happens? The link is incomplete: open it again from where you got it.</p>`,
    { script },
  )

type Entrance = { email: string; token: string; problem: string | null; mustChoose: boolean } & At

/** Shows whom a link signs in. Only a press uses the link up, so that link-checking programs do not. */
export const linkPage = ({ email, token, problem, mustChoose, base, script }: Entrance): string =>
  page(
    'Sign in',
    html`<h1>Sign in as ${email}</h1>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
<p>This link works once.</p>
${
  !mustChoose &&
  html`<form method="post" action="${base}/sign-in/link">
<input type="hidden" name="token" value="${token}">
<button type="submit" name="step" value="sign-in">Sign in</button>
</form>
<h2>Or set a new password</h2>
<p>It ends all your other sessions.</p>`
}
<form method="post" action="${base}/sign-in/link">
<input type="hidden" name="token" value="${token}">${newPasswordFields(email)}
<button type="submit" name="step" value="password"${!mustChoose && { markup: ' class="quiet"' }}>Set the password and sign in</button>
</form>`,
    { script },
  )

/** How the operator helps people to sign in if the server sends no mail. */
const ASK = html`Ask the operator of this server for a new link: <code>svc-admin users link</code> creates one.`

export const linkOverPage = (canMail: boolean, { base, script }: At): string =>
  page(
    'Sign in',
    html`<h1>This link does not work</h1>
<p>It was already used, or it has expired.</p>
${canMail ? linkForm(base, '', 'Send a new link to') : html`<p>${ASK}</p>`}
<p>If you have a password, <a href="${base}/console/sign-in">sign in with it</a>.</p>`,
    { script },
  )

/** A form that requests a link by mail. */
const linkForm = (
  base: string,
  email: string,
  label: string,
): Markup => html`<form method="post" action="${base}/sign-in/mail">
<label for="link-email">${label}</label>
<input id="link-email" name="email" type="email" autocomplete="username" maxlength="254" required value="${email}">
<button class="quiet" type="submit">Send me a link</button>
</form>`

/** What to do without the password. */
export const forgotten = (
  canMail: boolean,
  base: string,
  email: string,
): Markup => html`<h2>No password, or forgot it?</h2>
${canMail ? linkForm(base, email, 'We send a sign-in link to') : html`<p>${ASK}</p>`}`

/** The same text for every address, so that it does not reveal who has an account. */
export const mailedPage = (base: string, email: string): string =>
  page(
    'Sign in',
    html`<h1>Check your e-mail</h1>
<p>If ${email} has an account here, a link is on its way. It works once, within 15 minutes.</p>
<p><a href="${base}/console/sign-in">Back</a></p>`,
  )

type Invited = { found: OpenInvitation; token: string; problem: string | null; isSignedIn: boolean } & At

/** An invitation. A signed-in person joins with one press. Others sign in, or create the invited account. */
export const invitationPage = ({ found, token, problem, isSignedIn, base, script }: Invited): string => {
  const { org, email, role, hasAccount } = found
  const own = html`<input class="quiet" id="email" type="email" autocomplete="username" readonly value="${email}">`
  const fields = hasAccount
    ? html`<label for="email">E-mail address</label>${own}
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>`
    : html`<label for="name">Your name</label>
<input id="name" name="name" autocomplete="name" maxlength="128">
<label for="email">E-mail address</label>${own}
<label for="password">New password, 8 to 200 characters</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="200" required>`
  const [step, verb] = isSignedIn
    ? ['join', `Join ${org}`]
    : hasAccount
      ? ['sign-in', 'Sign in and join']
      : ['sign-up', 'Create the account and join']
  return page(
    `Join ${org}`,
    html`<h1>Join ${org}</h1>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
<p>You are invited as ${role}. The invitation is for ${email} and works once.</p>
<form method="post" action="${base}/console/invitation">
<input type="hidden" name="token" value="${token}">
${!isSignedIn && fields}
<button type="submit" name="step" value="${step}">${verb}</button>
</form>`,
    { script },
  )
}

export const invitationOverPage = ({ base, script }: At): string =>
  page(
    'Invitation',
    html`<h1>This invitation does not work</h1>
<p>It was already used or withdrawn, or it has expired. Ask who invited you for a new one.</p>
<p><a href="${base}/console">To the console</a></p>`,
    { script },
  )
