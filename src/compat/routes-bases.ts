import { API, pathOf } from '../http/context'
import type { Caller, ChatParameters } from '../kernel/caller'

/** How a request is treated, by the base address that its client uses (docs/api.md 32.1). */
export type BaseRules = {
  /** True if chats behave as clients expect. Under `/api/v1` they follow the specification (docs/api.md 33.1). */
  forClients: boolean
  /** The model in the path. Overrides the model in the body. */
  model: string | null
  /** Headers that may hold the key here, besides `Authorization` (docs/api.md 29.2). */
  keyHeaders: readonly ('x-api-key' | 'api-key')[]
}

const OWN_API: BaseRules = { forClients: false, model: null, keyHeaders: [] }
const CLIENT_API: BaseRules = { forClients: true, model: null, keyHeaders: [] }

const ENDPOINTS =
  'chat/completions|responses|messages|embeddings|moderations|images/generations|images/edits|audio/speech|' +
  'audio/transcriptions|audio/translations|files|batches|models|conversations'

const MORE = '(?:responses|messages|files|batches|models|conversations)/.+'

/** Paths that clients call below a base. */
const SERVED = new RegExp(`^(?:${ENDPOINTS}|${MORE})$`)
const OF_AZURE = /^(?:responses|files|batches|models)(?:\/.+)?$/
const OF_DEPLOYMENT =
  /^(?:chat\/completions|embeddings|images\/(?:generations|edits)|audio\/(?:speech|transcriptions|translations))$/
const TWICE = new RegExp(`/(?:${ENDPOINTS})/(?:v1/)?(?:${ENDPOINTS})$`)

/** An endpoint below an address that is not a base of this server. */
const BELOW_OTHER = new RegExp(`/(?:${ENDPOINTS})$`)
/** Clients of this format append the version themselves. */
const OF_ANTHROPIC = /\/v1\/messages(?:\/|$)/

const rulesOfRequests = new WeakMap<Request, BaseRules>()

/** The rules of the base address of a request. Used by the routes that clients of other services call. */
export const baseRulesOf = (request: Request): BaseRules => rulesOfRequests.get(request) ?? OWN_API

/**
 * True if parameters of chat clients take effect: by the key's setting, else by the operator's, else by the base
 * address (docs/api.md 33.1).
 */
export function honoursParameters(caller: Caller, standard: ChatParameters, atBase: boolean): boolean {
  const own = caller.type === 'key' ? caller.chatParameters : 'by_base'
  const says = own === 'by_base' ? standard : own
  return says === 'by_base' ? atBase : says === 'honor'
}

const MESSAGES = '/api/v1/messages'

/** True for paths whose answers have their own format (docs/api.md 30.5). */
export const isMessages = (path: string): boolean =>
  path.startsWith(MESSAGES) && (path.length === MESSAGES.length || path[MESSAGES.length] === '/')

const MESSAGES_API: BaseRules = { ...CLIENT_API, keyHeaders: ['x-api-key'] }

/** True if a path may contain a base address or needs normalizing. */
export const hasBase = (path: string): boolean =>
  path.startsWith(`${API}/`)
    ? path.startsWith(`${API}/v1/`) || isMessages(path) || path.endsWith('/') || path.includes('//')
    : path.startsWith('/v1/') || path.startsWith('/openai/') || path.startsWith('//')

/**
 * Reads the base address of a request before routing. Below the addresses of docs/api.md 32.1, the paths that clients
 * call stand for those under `/api/v1`. From here on the request has that path: in rules, limits, logs and usage.
 */
export function readBase(request: Request): void {
  const path = pathOf(request.url)
  if (!hasBase(path)) return
  const normalized = path.replace(/\/+/g, '/').replace(/\/$/, '')
  const found = servedPath(normalized)
  if (!found) return
  rulesOfRequests.set(request, found.rules)
  if (path === `${API}/${found.path}`) return
  const [before, ...after] = request.url.split(path)
  const rewritten = `${before}${API}/${found.path}${after.join(path)}`
  // The request remains the same object, because the server finds its connection by it.
  Object.defineProperty(request, 'url', { value: rewritten })
}

function servedPath(path: string): { path: string; rules: BaseRules } | null {
  const [, model, deployed] = /^\/openai\/deployments\/([^/]+)\/(.+)$/.exec(path) ?? []
  if (model && deployed) {
    return OF_DEPLOYMENT.test(deployed)
      ? { path: deployed, rules: { forClients: true, model: decoded(model), keyHeaders: ['api-key'] } }
      : null
  }
  const [, base = '', below = ''] = /^\/(api\/v1\/v1|api\/v1|openai\/v1|openai|v1)\/(.+)$/.exec(path) ?? []
  // Routes without credentials have only one address (docs/attacks.md A17).
  if (base === 'api/v1')
    return below === 'health' ? null : { path: below, rules: isMessages(path) ? MESSAGES_API : OWN_API }
  if (!(base === 'openai' ? OF_AZURE : SERVED).test(below)) return null
  const takesMessages = /^messages(?:\/|$)/.test(below)
  const keyHeaders = [
    ...(base === 'v1' || takesMessages ? (['x-api-key'] as const) : []),
    ...(base.startsWith('openai') ? (['api-key'] as const) : []),
  ]
  return { path: below, rules: { ...CLIENT_API, keyHeaders } }
}

function decoded(model: string): string {
  try {
    return decodeURIComponent(model)
  } catch {
    return model
  }
}

/** The effective `Authorization` of a request, taken from the first allowed header that holds a key. */
export function authorizationOf(request: Request): string | null {
  const { headers } = request
  const authorization = headers.get('authorization')
  const { keyHeaders } = baseRulesOf(request)
  if (!keyHeaders.length || (authorization && /^bearer\s+svc_/i.test(authorization))) return authorization
  const key = keyHeaders.map((name) => headers.get(name)).find((value) => value?.startsWith('svc_'))
  return key ? `Bearer ${key}` : authorization
}

/** Advice for a client whose base address is wrong. Null if the intended address is unknown. */
export function baseAdvice(path: string, origin: string, methodsOf: (path: string) => string[]): string | null {
  const base = OF_ANTHROPIC.test(path) ? origin : `${origin}/v1`
  if (TWICE.test(path)) return `The path names its endpoint twice: the base URL is too long. Set it to ${base}.`
  const below = path.replace(/\/+/g, '/').replace(/^(?:\/api)?(?:\/v1)*\//, '')
  const meant = `${API}/${below}`
  if (meant === path) return null
  if (SERVED.test(below)) return `Set the base URL to ${base}.`
  if (methodsOf(meant).length) return `The base address of the API is ${API}; call ${meant}.`
  return /^\/(?:v1|openai)\//.test(path) || BELOW_OTHER.test(path) ? `Set the base URL to ${base}.` : null
}

/** True for addresses that clients probe before their calls, to see if a server is there (docs/api.md 32.1). */
export const isProbe = (method: string, path: string): boolean =>
  (method === 'HEAD' && path === '/') || ((method === 'HEAD' || method === 'GET') && /^\/(?:api\/)?v1\/?$/.test(path))
