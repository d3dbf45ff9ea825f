import { Elysia } from 'elysia'
import { type Exchange, routeName } from '../http/context'
import { answer, errors } from '../http/envelope'
import { type Guard, toCall } from '../http/guard'
import { checked } from '../kernel/schema'
import { endedCookie, sessionCookie } from './rules'
import { Me, Session, SignedOut, SignIn, SignUp } from './schema'
import type { AuthService, Visit } from './service'

type Options = {
  /** Browsers reach this server over https, so the cookie may be marked `Secure`. */
  secure: boolean
}

/** `/auth`: accounts and dashboard sessions (contract 1.2). */
export const authRoutes = (auth: AuthService, guard: Guard, { secure }: Options) =>
  new Elysia({ prefix: '/auth', tags: ['Accounts'] })
    .use(guard)
    .post('/signup', async (context) => context.status(201, await auth.signUp(visitOf(context), context.body)), {
      open: true,
      body: checked(SignUp),
      response: { 201: answer(Session), ...errors(400, 403, 409, 429, 503) },
      detail: { summary: 'Create an account, if this server allows sign-up' },
    })
    .post(
      '/sessions',
      async (context) => {
        const session = await auth.signIn(visitOf(context), context.body)
        context.set.headers['set-cookie'] = sessionCookie(session.session_token, secure)
        return context.status(201, session)
      },
      {
        open: true,
        body: checked(SignIn),
        response: { 201: answer(Session), ...errors(400, 401, 429, 503) },
        detail: { summary: 'Sign in; the session token is returned and set as a cookie' },
      },
    )
    .delete(
      '/sessions',
      async (context) => {
        await auth.signOut(toCall(context))
        context.set.headers['set-cookie'] = endedCookie(secure)
        return { deleted: true as const }
      },
      {
        signedIn: true,
        response: { 200: answer(SignedOut), ...errors(401, 403, 429) },
        detail: { summary: 'Sign out of this session' },
      },
    )
    .get('/me', (context) => auth.me(toCall(context)), {
      signedIn: true,
      response: { 200: answer(Me), ...errors(401, 403, 429) },
      detail: { summary: 'Read the signed-in user and their organizations' },
    })

/** The facts of a request that has no caller yet. */
const visitOf = ({ exchange, request, route }: { exchange: Exchange; request: Request; route: string }): Visit => ({
  requestId: exchange.requestId,
  route: routeName(exchange.method, route),
  signal: request.signal,
  ip: exchange.ip(),
})
