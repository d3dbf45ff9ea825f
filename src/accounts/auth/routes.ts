import { Elysia } from 'elysia'
import { answer, errors } from '../../http/envelope'
import { type Guard, toCall, visitOf } from '../../http/guard'
import { checked, checkedQuery } from '../../kernel/schema'
import type { SignInLinks } from './links'
import { endedCookie, sessionCookie } from './rules'
import {
  Confirm,
  Confirmed,
  EndedSessions,
  EndQuery,
  LinkAsk,
  LinkRequested,
  LinkUse,
  Me,
  MePatch,
  NewPassword,
  OwnSessions,
  PasswordSet,
  Session,
  SignedOut,
  SignIn,
  SignUp,
} from './schema'
import type { AuthService } from './service'

type Modules = { auth: AuthService; signInLinks: Pick<SignInLinks, 'ask' | 'redeem'> }
type Options = {
  /** True when browsers reach this server over https. The cookie is then marked `Secure`. */
  secure: boolean
}

/** `/auth`: accounts and dashboard sessions (docs/api.md 1.2). */
export const authRoutes = ({ auth, signInLinks }: Modules, guard: Guard, { secure }: Options) =>
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
    .get('/sessions', (context) => auth.listSessions(toCall(context)), {
      signedIn: true,
      response: { 200: answer(OwnSessions), ...errors(401, 403, 429) },
      detail: { summary: 'List your open sessions, last used first' },
    })
    .delete(
      '/sessions',
      async (context) => {
        if (context.query.others) return { deleted: true as const, ...(await auth.endOthers(toCall(context))) }
        await auth.signOut(toCall(context))
        context.set.headers['set-cookie'] = endedCookie(secure)
        return { deleted: true as const }
      },
      {
        signedIn: true,
        query: checkedQuery(EndQuery),
        response: { 200: answer(SignedOut), ...errors(401, 403, 429) },
        detail: { summary: 'Sign out of this session, or end all your others' },
      },
    )
    .delete('/sessions/:id', (context) => auth.endSession(toCall(context), context.params.id), {
      signedIn: true,
      response: { 200: answer(EndedSessions), ...errors(401, 403, 404, 429) },
      detail: { summary: 'End one of your sessions' },
    })
    .post('/confirm', (context) => auth.confirm({ ...toCall(context), ip: context.exchange.ip() }, context.body), {
      signedIn: true,
      body: checked(Confirm),
      response: { 200: answer(Confirmed), ...errors(400, 401, 403, 429, 503) },
      detail: { summary: 'Prove with your password that it is still you, for 15 minutes' },
    })
    .post(
      '/password',
      (context) => auth.changePassword({ ...toCall(context), ip: context.exchange.ip() }, context.body),
      {
        signedIn: true,
        body: checked(NewPassword),
        response: { 200: answer(PasswordSet), ...errors(400, 401, 403, 409, 429, 503) },
        detail: { summary: 'Set the password of the signed-in user; ends their other sessions' },
      },
    )
    .post(
      '/links',
      async (context) => {
        await signInLinks.ask(visitOf(context), context.body)
        return context.status(202, { accepted: true as const })
      },
      {
        open: true,
        body: checked(LinkAsk),
        response: { 202: answer(LinkRequested), ...errors(400, 429, 503) },
        detail: { summary: 'Mail a sign-in link, if the address has an account and this server sends e-mail' },
      },
    )
    .post(
      '/links/redeem',
      async (context) => {
        const { session } = await signInLinks.redeem(visitOf(context), context.body)
        context.set.headers['set-cookie'] = sessionCookie(session.session_token, secure)
        return context.status(201, session)
      },
      {
        open: true,
        body: checked(LinkUse),
        response: { 201: answer(Session), ...errors(400, 401, 409, 429, 503) },
        detail: { summary: 'Sign in with a link, once; sets a new password if one is sent' },
      },
    )
    .get('/me', (context) => auth.me(toCall(context)), {
      signedIn: true,
      response: { 200: answer(Me), ...errors(401, 403, 429) },
      detail: { summary: 'Read the signed-in user and their organizations' },
    })
    .patch('/me', (context) => auth.updateMe(toCall(context), context.body), {
      signedIn: true,
      body: checked(MePatch, { nulls: 'refused' }),
      response: { 200: answer(Me), ...errors(400, 401, 403, 429) },
      detail: { summary: 'Change your name' },
    })
