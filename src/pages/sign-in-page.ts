import { html, page } from '../kernel/html'
import { forgotten } from './link-page'

type Shown = { problem: string | null; email: string; next: string; signUp: boolean; canMail: boolean }

/** Signing in with e-mail address and password. */
export const signInPage = ({ problem, email, next, signUp, canMail }: Shown): string =>
  page(
    'Sign in',
    html`<h1>Sign in</h1>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="/sign-in">
<input type="hidden" name="next" value="${next}">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="254" required value="${email}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button type="submit">Sign in</button>
</form>
${signUp && html`<p><a href="/sign-up">Create an account</a></p>`}
${forgotten(canMail, email)}`,
  )

/** For who came by a link of another site and may be signed in: it goes on by itself. */
export const comeInPage = (address: string): string =>
  page('One moment', html`<h1>One moment</h1><p><a href="${address}">Continue</a></p>`)

/** Making an account, where the server lets everybody. */
export const signUpPage = ({ problem, email }: Pick<Shown, 'problem' | 'email'>): string =>
  page(
    'Create an account',
    html`<h1>Create an account</h1>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="/sign-up">
<label for="name">Name (visitors of your chats see it)</label>
<input id="name" name="name" autocomplete="name">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="254" required value="${email}">
<label for="password">Password, 8 characters or more</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" required>
<button type="submit">Create an account</button>
</form>
<p class="faint">Already have an account? <a href="/sign-in">Sign in</a>.</p>`,
  )
