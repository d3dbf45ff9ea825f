import type { BrowserHeaders } from '../accounts'
import { callOf, type Exchange } from '../http/context'
import type { Call, TenantCaller } from '../kernel/caller'
import { AppError } from '../kernel/errors'

type Deps = {
  /** Throws 401. */
  authenticate(headers: { authorization: null; cookie: string }): TenantCaller | Promise<TenantCaller>
  /** The caller as a member of the organization that the page names. Throws 404 for a non-member. */
  actingIn(caller: TenantCaller, org: string): Promise<TenantCaller>
  /** Throws 403 for a change that another site requests. */
  assertOwnPage(headers: BrowserHeaders): void
  /** Counts the request. Throws 429. */
  admit(caller: TenantCaller): void | Promise<void>
}

export type Context = { exchange: Exchange; request: Request; route: string }
export type Entering = ReturnType<typeof createEntering>

/** Finds the person who opens a page, by the session in the cookie. Keys and bearer tokens are for programs. */
export function createEntering({ authenticate, actingIn, assertOwnPage, admit }: Deps) {
  return { person, isStill, fromHere }

  /** The call of the signed-in person, counted as a request. Null if nobody is signed in. Throws 503, 429. */
  async function person({ exchange, request, route }: Context): Promise<Call | null> {
    fromHere(request)
    const signedIn = await callerOf(request.headers)
    if (!signedIn) return null
    const org = request.headers.get('x-svc-org')
    const found = org === null ? signedIn : await actingIn(signedIn, org)
    exchange.caller = found
    await admit(found)
    return callOf(exchange, route, request.signal)
  }

  /** True if the session of an open page is still valid, or cannot be checked now. */
  async function isStill(headers: Headers): Promise<boolean> {
    return callerOf(headers).then(
      (caller) => caller !== null,
      () => true,
    )
  }

  async function callerOf(headers: Headers): Promise<TenantCaller | null> {
    const cookie = headers.get('cookie')
    if (!cookie) return null
    const found = await Promise.resolve(cookie)
      .then((value) => authenticate({ authorization: null, cookie: value }))
      .catch((error: unknown) => {
        // An unavailable store does not mean that the person is signed out.
        if (error instanceof AppError && error.kind === 'unavailable') throw error
        return null
      })
    return found?.type === 'session' ? found : null
  }

  /** Throws for a form that a page of another site sends. */
  function fromHere({ method, headers }: Request): void {
    const [origin, host] = [headers.get('origin'), headers.get('host')]
    assertOwnPage({ method, authorization: null, origin, host, fetchSite: headers.get('sec-fetch-site') })
  }
}
