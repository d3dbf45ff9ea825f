import {
  type InfiniteData,
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { backoff, call, Failure, readEvents, type ServerEvent } from '../../shared/http'
import { saveFile } from '../ui/controls'
import { at, type Owner } from './boot'
import { createValue } from './value'

export { Failure } from '../../shared/http'

/** Values of a query. Null, undefined and empty values are omitted. */
export type Query = Record<string, string | number | boolean | null | undefined>
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Input = { query?: Query; body?: unknown; signal?: AbortSignal; headers?: Record<string, string> }

/** True when the session has ended. The frame then asks the reader to sign in again, and typed text is kept. */
export const signedOut = createValue(false)

/** True when a call was rejected until the reader proves their identity again. */
export const unconfirmed = createValue(false)

/** Since when the server has been unreachable, in milliseconds since 1970. 0 while it answers. */
export const lostSince = createValue(0)

/** A proxy answers with these statuses in place of an unreachable server. */
const isLost = ({ status }: Failure) => status === 0 || status === 502 || status === 504

let asking: Promise<number> | null = null

/**
 * Polls the server until it answers, and resolves with the number of failed attempts. Then reads everything again,
 * because data may be old and failed calls may now succeed.
 */
function reached(): Promise<number> {
  const ask = async (tries: number): Promise<number> => {
    const isThere = await call(at('/api/v1/health')).then(
      () => true,
      (error: Failure) => !isLost(error),
    )
    if (!isThere) {
      lostSince.set(lostSince.get() || Date.now())
      await new Promise((resolve) => setTimeout(resolve, backoff(tries)))
      return ask(tries + 1)
    }
    asking = null
    if (lostSince.get()) void queries.invalidateQueries()
    lostSince.set(0)
    return tries
  }
  asking ??= ask(0)
  return asking
}

/** Loads a part of the page on demand. If the server is unreachable, waits until it is back. */
export async function part<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    // The server was reachable all the time, so the part is gone: a newer version is deployed.
    if ((await reached()) === 0) throw error
    return part(load)
  }
}

/** When calls are accepted again, in milliseconds since 1970. 0 while none are limited. */
export const limitedUntil = createValue(0)

export const OwnerContext = createContext<Owner>(null as never)
/** The owner in the address: their rows are shown, and they pay. */
export const useOwner = (): Owner => useContext(OwnerContext)

/** True if the reader's role in this owner has a permission. */
export const useMay = (permission: string): boolean => useOwner().permissions.includes(permission)

/**
 * The address of a route in the tenants' API, or in the operators' API for an operator who looks at another owner, whom
 * it then names. Routes of the console, and routes of only one API, are passed as full paths.
 */
function addressOf({ looksAt }: Owner, path: string, query: Query = {}): string {
  const isWhole = /^\/(api|ops|console)\//.test(path)
  const named = !isWhole && looksAt ? { owner: looksAt, ...query } : query
  const kept = Object.entries(named).filter(([, value]) => value !== null && value !== undefined && value !== '')
  const search = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString()
  const api = looksAt === undefined ? '/api/v1' : '/ops/v1'
  return at(`${isWhole ? '' : api}${path}${search && `?${search}`}`)
}

/** When this page last changed something or heard of a change. What it reads must be newer. */
let changedAt = performance.now()
export const noteChange = (): void => {
  changedAt = performance.now()
}
/** Pages of one owner share an answer of the server that is as old as their last change allows. */
const maxAge = (): Record<string, string> => {
  const seconds = Math.floor((performance.now() - changedAt) / 1_000)
  return seconds > 0 ? { 'cache-control': `max-age=${seconds}` } : {}
}

/** One call for an owner. Throws `Failure`. Notes an ended session and a rate limit for the frame. */
async function send(owner: Owner, method: Method, path: string, { query, ...input }: Input = {}): Promise<Response> {
  const headers = { 'x-svc-org': owner.id ?? 'personal', ...(method === 'GET' && maxAge()), ...input.headers }
  try {
    return await call(addressOf(owner, path, query), { method, ...input, headers })
  } catch (error) {
    if (error instanceof Failure && isLost(error)) void reached()
    // A wrong password in a form also answers 401, but does not end the session.
    if (error instanceof Failure && error.status === 401 && error.code !== 'invalid_credentials') signedOut.set(true)
    if (error instanceof Failure && error.status === 403 && error.message.includes('/auth/confirm'))
      unconfirmed.set(true)
    if (error instanceof Failure && error.status === 429) limitedUntil.set(Date.now() + (error.retryAfter ?? 5) * 1_000)
    throw error
  } finally {
    if (method !== 'GET') noteChange()
  }
}

const MAX_TRIES = 2
const isWorthAnother = (error: unknown) => error instanceof Failure && (error.status === 0 || error.status >= 500)

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (tries, error) => tries < MAX_TRIES && isWorthAnother(error),
      retryDelay: (tries) => 400 * 2 ** tries,
    },
  },
})

/** The owner's name. For an owner that an operator looks at, the address contains only the id. */
export function useOwnerName(): string {
  const { looksAt, name } = useOwner()
  return useGet<{ owner: string }>('/credits', {}, { off: !looksAt }).data?.owner ?? name
}

/** Reads `path` for the owner in the address, and again when the reader returns to the page. */
export function useGet<T>(path: string, query: Query = {}, { everyMs, off }: { everyMs?: number; off?: boolean } = {}) {
  const owner = useOwner()
  return useQuery<T, Failure>({
    queryKey: [owner.slug, path, query],
    queryFn: async ({ signal }) => (await send(owner, 'GET', path, { query, signal })).json(),
    placeholderData: keepPreviousData,
    enabled: !off,
    ...(everyMs ? { refetchInterval: everyMs } : {}),
  })
}

/** A list read page by page. `rows` names the member of the answer that contains the rows. */
export function usePages<T>(path: string, rows: string | ((page: never) => T[]), query: Query = {}, everyMs?: number) {
  const owner = useOwner()
  const client = useQueryClient()
  const queryKey = [owner.slug, path, 'pages', query]
  type Pages = InfiniteData<Record<string, unknown>>
  const change = (how: (data: Pages) => Pages) => client.setQueryData<Pages>(queryKey, (data) => data && how(data))
  const pages = useInfiniteQuery<Record<string, unknown>, Failure>({
    queryKey,
    queryFn: async ({ signal, pageParam }) => {
      const wanted = { limit: 50, ...query, cursor: pageParam as string }
      const answer = await send(owner, 'GET', path, { query: wanted, signal })
      const page = await answer.json()
      // The list of audit events is a plain array, with its cursor in a header.
      return Array.isArray(page) ? { [String(rows)]: page, next_cursor: answer.headers.get('x-next-cursor') } : page
    },
    initialPageParam: '',
    getNextPageParam: (last) => (last.next_cursor as string | null) ?? undefined,
    placeholderData: keepPreviousData,
    // A reader who has scrolled down keeps their position.
    refetchInterval: ({ state }) => (everyMs && state.data?.pages.length === 1 ? everyMs : false),
  })
  const of = (page: Record<string, unknown>) => (typeof rows === 'string' ? page[rows] : rows(page as never)) as T[]
  return {
    ...pages,
    rows: pages.data?.pages.flatMap(of),
    /** Adds rows that are newer than the first one. */
    prepend: (fresh: readonly T[]) =>
      change(({ pages: [first, ...rest], pageParams }) => ({
        pages: [{ ...first, [String(rows)]: [...fresh, ...of(first!)] }, ...rest],
        pageParams,
      })),
    /** Forgets all pages but the first, and reads that one again. */
    restart: () => {
      change(({ pages, pageParams }) => ({ pages: pages.slice(0, 1), pageParams: pageParams.slice(0, 1) }))
      void client.invalidateQueries({ queryKey })
    },
  }
}

/** Reads again every path that begins with one of `touches`. */
export const readAgain = (touches: readonly string[]): void =>
  void queries.invalidateQueries({
    predicate: ({ queryKey }) => touches.some((touched) => String(queryKey[1]).startsWith(touched)),
  })

/** Sends a change. Afterwards reads again every path that begins with one of `touches`. */
export function useSend<Answer, Body = void>(
  method: Method,
  path: string | ((body: Body) => string),
  touches: readonly string[] = [],
) {
  const owner = useOwner()
  return useMutation<Answer, Failure, Body>({
    mutationFn: async (body) => {
      const isWithoutBody = body === undefined || method === 'DELETE'
      const where = typeof path === 'string' ? path : path(body)
      return (await send(owner, method, where, isWithoutBody ? {} : { body })).json()
    },
    // Runs after the caller's own handler, so that a closing drawer does not read a deleted row.
    onSuccess: () => void setTimeout(() => readAgain(touches)),
  })
}

/** Calls without a cache, for streams and one-time actions. */
export function useCalls() {
  const owner = useOwner()
  return {
    json: async <T>(method: Method, path: string, input?: Input): Promise<T> =>
      (await send(owner, method, path, input)).json(),
    /** Resolves when the answer begins. */
    open: (method: Method, path: string, input: Input) => send(owner, method, path, input),
    /** Saves the answer of a route as a file. */
    download: async (path: string, query: Query, name: string): Promise<void> =>
      saveFile(await (await send(owner, 'GET', path, { query })).blob(), name),
    /** Reads server-sent events until the answer ends. */
    events: async (path: string, input: Input, take: (event: ServerEvent) => void) =>
      readEvents(await send(owner, 'GET', path, input), take),
  }
}
