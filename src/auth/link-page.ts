import { html, page } from '../kernel/html'
import type { UserRow } from '../orgs'

/** The page of a sign-in link; `done` after the sign-in. */
export function linkPage({ email }: Pick<UserRow, 'email'>, problem: string | null, done = false): string {
  if (done)
    return page(
      'Signed in',
      html`<h1>You are signed in as ${email}</h1>
<p>Your password is set. This browser is signed in for 12 hours after its last call; later, sign in with your password.</p>
<p><a href="/home">Go on to your page</a></p>`,
    )
  return page(
    'Sign in',
    html`<h1>Sign in as ${email}</h1>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
<p>Choose a password. This link works once.</p>
<form method="post">
<label for="password">Password, 8 characters or more</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="200" required autofocus>
<button type="submit">Set the password and sign in</button>
</form>`,
  )
}

export const expiredLinkPage = (): string =>
  page(
    'Sign in',
    html`<h1>This link does not work</h1>
<p>It was used, or it is more than a day old. If you have chosen a password, <a href="/sign-in">sign in</a> with it; otherwise ask for a new link.</p>`,
  )
