import { type CreateEden, Elysia } from 'elysia'
import type { Call, Caller, Scope } from '../kernel/caller'
import { checked, checkedPath, checkedQuery, type Static, type TSchema, t } from '../kernel/schema'
import { OwnerQuery } from '../operators/schema'
import { answer, type ErrorBody, errors } from './envelope'
import { type Guard, toCall } from './guard'
import { type OperatorEdge, toOperatorCall } from './operator-edge'
import type { Allowed, Holds } from './operator-rules'

/** A route of both APIs, declared once: the tenants' at `/api/v1`, the operators' at `/ops/v1` (design 12.2). */
export type Declared = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With `/:id` where it is about one thing. */
  path: string
  body?: TSchema
  /** It takes no body, and whatever is sent is not read. */
  ignored?: true
  query?: TSchema
  reply: TSchema
  /** Tenants get 201, and may send an Idempotency-Key. */
  creates?: boolean
  /** It changes something: tenants may send an Idempotency-Key, and its verb stores the answer. */
  idempotent?: boolean
  /** `own`: it ends its work by itself, as completions do. */
  timeLimit?: 'own'
  /** What operators read by it; who may follows. One that reads and says nothing is for `support`. */
  holds?: Holds
  /** Which operators may change by it besides the admin, or see what it holds besides `support`. */
  role?: Allowed
  /** Operators may say whose with `?owner=`. */
  owned?: boolean
  summary: string
  description?: string
  /** Statuses besides those that the edge adds for its kind. */
  errors?: readonly (402 | 404 | 409)[]
}

type Message<D, Part extends 'body' | 'query'> = D extends Record<Part, infer S extends TSchema> ? Static<S> : unknown
/** `ids` has all parameters of the path by name. */
export type Request<D> = {
  id: string
  ids: Record<string, string>
  body: Message<D, 'body'>
  query: Message<D, 'query'>
  owner: string | undefined
}
type Run = (call: Call<Caller>, request: Request<never>) => unknown
export type Verb<D extends Declared = Declared> = D & { run: Run }

/** Declares a route and what it runs. The caller tells tenants from operators where that matters. */
export const verb = <const D extends Declared>(
  declared: D,
  run: (call: Call<Caller>, request: Request<D>) => Static<D['reply']> | Promise<Static<D['reply']>>,
): Verb<D> => ({ ...declared, run: run as Run })

/** Declares a route that only tenants have. */
export const tenantVerb = <const D extends Declared>(
  declared: D,
  run: (call: Call, request: Request<D>) => Static<D['reply']> | Promise<Static<D['reply']>>,
) => ({ ...verb(declared, run as never), isTenants: true as const })

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
type TenantRoute<D> = D extends Declared
  ? Route<D, Message<D, 'query'>, D extends { creates: true } ? 201 : 200>
  : never
type OperatorRoute<D> = D extends Declared
  ? Route<D, D extends { owned: true } ? Message<D, 'query'> & { owner?: string } : Message<D, 'query'>, 200>
  : never
type Routes<R> = Together<R> extends infer All extends Record<string, unknown> ? All : never

type Mountable = Record<Declared['method'], (path: string, handle: unknown, options: object) => void>
/** `params` and `query` are missing where a route has none. */
type Context = { params?: Record<string, string>; body: never; query?: { owner?: string } }

const paramsOf = (path: string) => {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  return names.length ? checkedPath(t.Object(Object.fromEntries(names.map((name) => [name, t.String()])))) : null
}
const partsOf = ({ path, body }: Declared) => ({
  ...(paramsOf(path) ? { params: paramsOf(path)! } : {}),
  ...(body ? { body: checked(body) } : {}),
})

/** The routes for tenants: behind one scope, in one group of the document. */
export function tenantRoutes<const V extends readonly Verb[]>(
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
    idempotent = creates,
    summary,
    description,
    timeLimit,
    ignored,
    run,
    ...verb
  } of verbs) {
    const handle = async (context: Context & Parameters<typeof toCall>[0] & { set: { status?: number } }) => {
      const { params, body, query } = context
      const request = { id: params?.id ?? '', ids: params ?? {}, body, query: query as never, owner: undefined }
      const done = await run(toCall(context), request)
      if (creates) context.set.status = 201
      return done
    }
    mount(plugin, method, path, handle, {
      ...partsOf({ method, path, reply, summary, ...verb }),
      scope,
      ...(idempotent ? { idempotent: true } : {}),
      ...(timeLimit ? { timeLimit } : {}),
      ...(ignored ? { ignored } : {}),
      ...(query ? { query: checkedQuery(query) } : {}),
      response: { [creates ? 201 : 200]: answer(reply), ...errors(...(verb.errors ?? [])) },
      detail: { summary, ...(description ? { description } : {}) },
    })
  }
  return plugin as unknown as Of<Routes<TenantRoute<V[number]>>>
}

/** The same routes for operators, whose reach is everyone. */
export function operatorRoutes<const V extends readonly (Verb & { isTenants?: never })[]>(
  verbs: V,
  edge: OperatorEdge,
) {
  const plugin = new Elysia({ prefix: '/ops/v1' }).use(edge)
  for (const { method, path, query, reply, owned, role, holds, run, ...verb } of verbs) {
    const handle = (context: Context & Parameters<typeof toOperatorCall>[0]) => {
      const { params, body, query } = context
      const request = { id: params?.id ?? '', ids: params ?? {}, body, query: query as never, owner: query?.owner }
      return run(toOperatorCall(context), request)
    }
    const requested = {
      ...(query as { properties?: object } | undefined)?.properties,
      ...(owned ? OwnerQuery.properties : {}),
    }
    mount(plugin, method, path, handle, {
      ...partsOf({ method, path, reply, ...verb }),
      ...(query || owned ? { query: checkedQuery(t.Object(requested)) } : {}),
      ...(role ? { role } : {}),
      ...(holds ? { holds } : {}),
      response: { 200: answer(reply) },
    })
  }
  return plugin as unknown as Of<CreateEden<'/ops/v1', Routes<OperatorRoute<V[number]>>>>
}

const mount = (plugin: unknown, method: Declared['method'], path: string, handle: unknown, options: object): void =>
  (plugin as Mountable)[method](path, handle, options)
