import { type CreateEden, Elysia } from 'elysia'
import { OwnerQuery } from '../accounts/orgs/schema'
import type { Call, Caller, OperatorCaller, Scope } from '../kernel/caller'
import { checked, checkedPath, checkedQuery, described, type Static, type TSchema, t } from '../kernel/schema'
import { answer, type ErrorBody, errors } from './envelope'
import { type Guard, toCall } from './guard'
import type { Allowed, Holds } from './operator-edge'
import { type OperatorEdge, toOperatorCall } from './operator-edge'

/** A route of both APIs, declared once: for tenants at `/api/v1`, for operators at `/ops/v1` (docs/design.md 12.2). */
export type Declared = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Contains `/:id` if the route concerns one item. */
  path: string
  body?: TSchema
  /** The route takes no body, and ignores any that is sent. */
  ignored?: true
  query?: TSchema
  reply: TSchema
  /** Creates something: tenants get 201, and may send an Idempotency-Key. */
  creates?: boolean
  /** The work continues after the answer: tenants get 202, and may send an Idempotency-Key. */
  accepts?: boolean
  /** Changes something: tenants may send an Idempotency-Key, and the verb stores the answer. */
  idempotent?: boolean
  /** `own`: it has its own time limit, like completions. */
  timeLimit?: 'own'
  /** The kind of data that operators read by it, which decides who may. Without it, only `support` reads. */
  holds?: Holds
  /** The role that may change by it besides the admin, or see its content besides `support`. */
  role?: Allowed
  /** Operators may name the owner with `?owner=`. */
  owned?: boolean
  /** Where the operators' route differs from the tenants'. */
  operators?: { path?: string; body?: TSchema; query?: TSchema; reply?: TSchema }
  /** Needs no scope: every key and session may call it. */
  signedIn?: true
  summary: string
  description?: string
  /** Statuses besides those that the edge adds for its kind. */
  errors?: readonly (402 | 404 | 409 | 501 | 503)[]
  /** The body of 422. */
  refused?: TSchema
}

type Message<D, Part extends 'body' | 'query' | 'reply'> =
  D extends Record<Part, infer S extends TSchema> ? Static<S> : unknown
/** The type for either API. */
type Either<D, Part extends 'body' | 'query' | 'reply'> =
  | Message<D, Part>
  | (D extends { operators: Record<Part, infer S extends TSchema> } ? Static<S> : never)
/** `ids` has all parameters of the path by name, `id` the one named `id` or `ref`. */
export type Request<D> = {
  id: string
  ids: Record<string, string>
  body: Either<D, 'body'>
  query: Either<D, 'query'>
  owner: string | undefined
}
type Reply<D> = Either<D, 'reply'> | Response | Promise<Either<D, 'reply'> | Response>
type Run = (call: Call<Caller>, request: Request<never>) => unknown
type Rest = Omit<Declared, 'method' | 'path'>

const verbBy =
  <const Method extends Declared['method']>(method: Method) =>
  <const Path extends string, const D extends Rest>(
    path: Path,
    declared: D,
    run: (call: Call<Caller>, request: Request<D>) => Reply<D>,
  ) => ({ ...declared, method, path, run: run as Run })

const tenantBy =
  <const Method extends Declared['method']>(method: Method) =>
  <const Path extends string, const D extends Rest>(
    path: Path,
    declared: D,
    run: (call: Call, request: Request<D>) => Reply<D>,
  ) => ({ ...declared, method, path, run: run as Run, isTenants: true as const })

const operatorBy =
  <const Method extends Declared['method']>(method: Method) =>
  <const Path extends string, const D extends Omit<Rest, 'summary'>>(
    path: Path,
    declared: D,
    run: (call: Call<OperatorCaller>, request: Request<D>) => Reply<D>,
  ) => ({ ...declared, method, path, summary: '', run: run as Run, isOperators: true as const })

/**
 * Declares a route of both APIs with its function: `verb.get('/tiers', { … }, (call) => …)`. If necessary, the function
 * distinguishes tenants and operators by the caller.
 */
export const verb = {
  get: verbBy('get'),
  post: verbBy('post'),
  put: verbBy('put'),
  patch: verbBy('patch'),
  delete: verbBy('delete'),
}

/** Declares a route that only tenants have. */
export const tenant = {
  get: tenantBy('get'),
  post: tenantBy('post'),
  put: tenantBy('put'),
  patch: tenantBy('patch'),
  delete: tenantBy('delete'),
}

/** Declares a route that only operators have. */
export const operator = {
  get: operatorBy('get'),
  post: operatorBy('post'),
  put: operatorBy('put'),
  patch: operatorBy('patch'),
  delete: operatorBy('delete'),
}

type Of<Routes extends Record<string, unknown>> = Elysia<
  '',
  {
    decorator: Record<never, never>
    store: Record<never, never>
    derive: Record<never, never>
    resolve: Record<never, never>
  },
  { typebox: Record<never, never>; error: Record<never, never> },
  {
    schema: Record<never, never>
    standaloneSchema: Record<never, never>
    macro: Record<never, never>
    macroFn: Record<never, never>
    parser: Record<never, never>
    response: Record<never, never>
  },
  Routes
>
type Together<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never
type Parameter<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Parameter<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never
type Route<D extends Declared, Query, Status extends number> = CreateEden<
  D['path'],
  {
    [M in D['method']]: {
      body: Message<D, 'body'>
      params: { [P in Parameter<D['path']>]: string }
      query: Query
      headers: unknown
      response: { [S in Status]: Static<D['reply']> } & { 400: ErrorBody }
    }
  }
>
type TenantRoute<D> = D extends { isOperators: true }
  ? never
  : D extends Declared
    ? Route<D, Message<D, 'query'>, D extends { creates: true } ? 201 : D extends { accepts: true } ? 202 : 200>
    : never
type OperatorRoute<D> = D extends { isTenants: true }
  ? never
  : D extends { operators: infer Own }
    ? OperatorRoute<Omit<D, keyof Own | 'operators'> & Own>
    : D extends Declared
      ? Route<D, D extends { owned: true } ? Message<D, 'query'> & { owner?: string } : Message<D, 'query'>, 200>
      : never
type Routes<R> = Together<R> extends infer All extends Record<string, unknown> ? All : never

/** An entry of a list for both APIs. Each API skips the routes that only the other has. */
type OneOf = Declared & { run: Run } & { isTenants?: true; isOperators?: true }

type Mountable = Record<Declared['method'], (path: string, handle: unknown, options: object) => void>
/** `params` and `query` are missing if a route has none. */
type Context = { params?: Record<string, string>; body: never; query?: { owner?: string } }

const paramsOf = (path: string, check: typeof checkedPath) => {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  return names.length ? { params: check(t.Object(Object.fromEntries(names.map((name) => [name, t.String()])))) } : {}
}
const partsOf = ({ method, path, body }: Declared, check = checkedPath) => ({
  ...paramsOf(path, check),
  ...(body ? { body: checked(body, { nulls: method === 'post' ? 'absent' : 'refused' }) } : {}),
})

/** The routes for tenants: with one scope, in one group of the document. */
export function tenantRoutes<const V extends readonly OneOf[]>(
  verbs: V,
  guard: Guard,
  { scope, tag }: { scope: Scope; tag: string },
) {
  const plugin = new Elysia({ tags: [tag] }).use(guard)
  for (const {
    method,
    path,
    query,
    reply,
    creates,
    accepts,
    idempotent = creates || accepts,
    summary,
    description,
    timeLimit,
    ignored,
    signedIn,
    refused,
    run,
    isOperators,
    ...verb
  } of verbs) {
    if (isOperators) continue
    const status = creates ? 201 : accepts ? 202 : 200
    const handle = async (context: Context & Parameters<typeof toCall>[0] & { set: { status?: number } }) => {
      const { params, body, query } = context
      const request = { id: params?.id ?? '', ids: params ?? {}, body, query: query as never, owner: undefined }
      const done = await run(toCall(context), request)
      if (status !== 200) context.set.status = status
      return done
    }
    mount(plugin, method, path, handle, {
      ...partsOf({ method, path, reply, summary, ...verb }),
      ...(signedIn ? { signedIn } : { scope }),
      ...(idempotent ? { idempotent: true } : {}),
      ...(timeLimit ? { timeLimit } : {}),
      ...(ignored ? { ignored } : {}),
      ...(query ? { query: checkedQuery(query) } : {}),
      response: {
        [status]: answer(reply),
        ...errors(...(verb.errors ?? [])),
        ...(refused ? { 422: described(refused) } : {}),
      },
      detail: { summary, ...(description ? { description } : {}) },
    })
  }
  return plugin as unknown as Of<Routes<TenantRoute<V[number]>>>
}

/** The same routes for operators, who reach all owners' data. */
export function operatorRoutes<const V extends readonly OneOf[]>(verbs: V, edge: OperatorEdge) {
  const plugin = new Elysia({ prefix: '/ops/v1' }).use(edge)
  for (const { operators, isTenants, ...shared } of verbs) {
    if (isTenants) continue
    const { method, path, query, reply, owned, role, holds, accepts: _, run, ...verb } = { ...shared, ...operators }
    const handle = (context: Context & Parameters<typeof toOperatorCall>[0]) => {
      const { params, body, query } = context
      const request = {
        id: params?.id ?? params?.ref ?? '',
        ids: params ?? {},
        body,
        query: query as never,
        owner: query?.owner,
      }
      return run(toOperatorCall(context), request)
    }
    const properties = {
      ...(query as { properties?: object } | undefined)?.properties,
      ...(owned ? OwnerQuery.properties : {}),
    }
    mount(plugin, method, path, handle, {
      // A verb checks an id itself. Any other word is looked up in the store.
      ...partsOf({ method, path, reply, ...verb }, path.includes('/:id') ? checkedPath : checkedQuery),
      ...(query || owned ? { query: checkedQuery(t.Object(properties)) } : {}),
      ...(role ? { role } : {}),
      ...(holds ? { holds } : {}),
      response: { 200: answer(reply) },
    })
  }
  return plugin as unknown as Of<CreateEden<'/ops/v1', Routes<OperatorRoute<V[number]>>>>
}

const mount = (plugin: unknown, method: Declared['method'], path: string, handle: unknown, options: object): void =>
  (plugin as Mountable)[method](path, handle, options)
