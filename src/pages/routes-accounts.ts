import { Elysia } from 'elysia'
import { type AuthService, endedCookie, sessionCookie } from '../accounts'
import { SignUp } from '../accounts/auth/schema'
import { statusOf } from '../http/envelope'
import { type Guard, visitOf } from '../http/guard'
import { AppError } from '../kernel/errors'
import { html, page, pageHeaders } from '../kernel/html'
import { checkedQuery, checker, t } from '../kernel/schema'
import { forgotten } from './link-page'
import type { Context, Entering } from './routes-entering'

type Shown = { base: string; problem: string | null; email: string; next: string; signUp: boolean; canMail: boolean }

/** The form to sign in with e-mail address and password. */
const signInPage = ({ base, problem, email, next, signUp, canMail }: Shown): string =>
  page(
    'Sign in',
    html`<h1>Sign in</h1>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="${base}/sign-in">
<input type="hidden" name="next" value="${next}">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="254" required value="${email}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button type="submit">Sign in</button>
</form>
${signUp && html`<p><a href="${base}/sign-up">Create an account</a></p>`}
${forgotten(canMail, base, email)}`,
  )

/** The form to create an account, if the server allows sign-up. */
const signUpPage = ({ base, problem, email }: Pick<Shown, 'base' | 'problem' | 'email'>): string =>
  page(
    'Create an account',
    html`<h1>Create an account</h1>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="${base}/sign-up">
<label for="name">Name (visitors of your chats see it)</label>
<input id="name" name="name" autocomplete="name">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" maxlength="254" required value="${email}">
<label for="password">Password, 8 characters or more</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" required>
<button type="submit">Create an account</button>
</form>
<p class="faint">Already have an account? <a href="${base}/console/sign-in">Sign in</a>.</p>`,
  )

type Deps = {
  auth: AuthService
  entering: Entering
  secure: boolean
  signUp: boolean
  canMail: boolean
  /** Prefix of every path of this server. */
  base: string
}
const signUpForm = checker(SignUp)
export type Answer = { headers: Record<string, string | number | string[] | undefined>; status?: number | string }

const Path = t.Optional(t.String({ maxLength: 2_000 }))
/** The page to open afterwards. `next` is its older name. */
const Next = checkedQuery(t.Object({ to: Path, next: Path }))
/** Forms send their origin, so that a form of another site can be detected. */
const FORM_PAGE = { ...pageHeaders(), 'referrer-policy': 'same-origin' }

/** A path of this server's own pages, or of the console with its filters. Any other value leads to the console. */
const ownPath = (next: string | undefined): string =>
  next && (/^\/[a-z][\w/-]*$/.test(next) || /^\/console\/[\w/:.-]*(\?[\w=&%.:+~-]*)?$/.test(next)) ? next : '/console'

/** Address for signing in and then continuing at `next`. */
export const signInAt = (next: string): string =>
  `/console/sign-in?to=${encodeURIComponent(next).replaceAll('%2F', '/')}`

export function goTo(set: Answer, path: string): string {
  set.status = 303
  set.headers.location = path
  return ''
}

type Opened = Context & { query: { to?: string; next?: string }; set: Answer }

/**
 * `/console/sign-in`, `/sign-up` and `/sign-out`: for browsers, with forms that need no script (docs/operating.md 5.1).
 */
export const accountPageRoutes = ({ auth, entering, secure, signUp, canMail, base }: Deps, guard: Guard) => {
  async function shown({ query, set, exchange, request, route }: Opened): Promise<string> {
    const next = ownPath(query.to ?? query.next)
    if (await entering.person({ exchange, request, route })) return goTo(set, base + next)
    Object.assign(set.headers, FORM_PAGE)
    // After a link from another site, the browser sends no cookie with this request, but does so with requests of this
    // page.
    if (request.headers.get('sec-fetch-site') === 'cross-site') {
      const address = base + signInAt(next)
      set.headers.refresh = `0; url=${address}`
      // For a person who followed a link from another site and may be signed in. Continues automatically.
      return page('One moment', html`<h1>One moment</h1><p><a href="${address}">Continue</a></p>`)
    }
    return signInPage({ base, problem: null, email: '', next, signUp, canMail })
  }
  return new Elysia({ detail: { hide: true } })
    .use(guard)
    .get('/sign-in', shown, { open: true, query: Next })
    .get('/console/sign-in', shown, { open: true, query: Next })
    .post(
      '/sign-in',
      async (context) => {
        const { email = '', password = '', next } = context.body as Record<string, string>
        entering.fromHere(context.request)
        Object.assign(context.set.headers, FORM_PAGE)
        return answered(
          context.set,
          secure,
          () => auth.signIn(visitOf(context), { email: email.slice(0, 254), password: password.slice(0, 1_000) }),
          (problem) => signInPage({ base, problem, email, next: ownPath(next), signUp, canMail }),
          base + ownPath(next),
        )
      },
      { open: true, form: true },
    )
    .get(
      '/sign-up',
      ({ set }) => {
        if (!signUp) return goTo(set, `${base}/console/sign-in`)
        Object.assign(set.headers, FORM_PAGE)
        return signUpPage({ base, problem: null, email: '' })
      },
      { open: true },
    )
    .post(
      '/sign-up',
      async (context) => {
        const { email = '', password = '', name = '' } = context.body as Record<string, string>
        entering.fromHere(context.request)
        Object.assign(context.set.headers, FORM_PAGE)
        const input = { email, password, name: name.trim() || null }
        const shown = (problem: string) => signUpPage({ base, problem, email })
        if (!signUpForm.is(input)) {
          context.set.status = 400
          return shown('An account needs an e-mail address, and a password of 8 to 200 characters.')
        }
        return answered(context.set, secure, () => auth.signUp(visitOf(context), input), shown, `${base}/console`)
      },
      { open: true, form: true },
    )
    .post(
      '/sign-out',
      async ({ set, exchange, request, route }) => {
        const call = await entering.person({ exchange, request, route })
        if (call) await auth.signOut(call)
        set.headers['set-cookie'] = endedCookie(secure)
        return goTo(set, `${base}/console/sign-in`)
      },
      { open: true, form: true },
    )
}

async function answered(
  set: Answer,
  secure: boolean,
  open: () => Promise<{ session_token: string }>,
  shown: (problem: string) => string,
  next: string,
): Promise<string> {
  try {
    const { session_token } = await open()
    set.headers['set-cookie'] = sessionCookie(session_token, secure)
    return goTo(set, next)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    set.status = statusOf(error)
    return shown(error.message)
  }
}
