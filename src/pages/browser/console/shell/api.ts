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
import { at, type Owner } from './boot'
import { createValue } from './value'

export { Failure } from '../../shared/http'

/** Values of a query; what is null, undefined or empty is left out. */
export type Query = Record<string, string | number | boolean | null | undefined>
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Input = { query?: Query; body?: unknown; signal?: AbortSignal; headers?: Record<string, string> }

/** Whether the session has ended; the frame asks to sign in again, and nothing that was typed is lost. */
export const signedOut = createValue(false)

/** Whether something was refused until the reader proves again who they are. */
export const unconfirmed = createValue(false)

/** Since when the server has not been reached, in milliseconds since 1970; 0 while it answers. */
export const lostSince = createValue(0)

/** A proxy whose server is away answers in its place. */
const isLost = ({ status }: Failure) => status === 0 || status === 502 || status === 504

let asking: Promise<number> | null = null

/**
 * Asks for the server until it answers, and resolves with how often it did not. Then everything is read again: it may
 * be old, and what failed is worth another try.
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

/** A part of the page that is loaded when it is needed: where the server is away, when it is back. */
export async function part<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    // It was there all the time, so the part is gone: a newer version is here.
    if ((await reached()) === 0) throw error
    return part(load)
  }
}

/** When calls are taken again, in milliseconds since 1970; 0 while none are refused. */
export const limitedUntil = createValue(0)

export const OwnerContext = createContext<Owner>(null as never)
/** The owner that the address names: whose rows are read, and who pays. */
export const useOwner = (): Owner => useContext(OwnerContext)

/** Whether the reader's role in this owner has a permission. */
export const useMay = (permission: string): boolean => useOwner().permissions.includes(permission)

/**
 * The address of a route: of the tenants' API, or of the operators' where an operator looks at others, whom it then
 * names. Routes of the console, and of one API alone, are given whole.
 */
function addressOf({ looksAt }: Owner, path: string, query: Query = {}): string {
  const isWhole = /^\/(api|ops|console)\//.test(path)
  const named = !isWhole && looksAt ? { owner: looksAt, ...query } : query
  const kept = Object.entries(named).filter(([, value]) => value !== null && value !== undefined && value !== '')
  const search = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString()
  const api = looksAt === undefined ? '/api/v1' : '/ops/v1'
  return at(`${isWhole ? '' : api}${path}${search && `?${search}`}`)
}

/** One call for an owner. Throws `Failure`; a session that ended and a limit are noted for the frame. */
async function send(owner: Owner, method: Method, path: string, { query, ...input }: Input = {}): Promise<Response> {
  const headers = { 'x-svc-org': owner.id ?? 'personal', ...input.headers }
  try {
    return await call(addressOf(owner, path, query), { method, ...input, headers })
  } catch (error) {
    if (error instanceof Failure && isLost(error)) void reached()
    // A wrong password in a form is refused with 401 too, and ends nothing.
    if (error instanceof Failure && error.status === 401 && error.code !== 'invalid_credentials') signedOut.set(true)
    if (error instanceof Failure && error.status === 403 && error.message.includes('/auth/confirm'))
      unconfirmed.set(true)
    if (error instanceof Failure && error.status === 429) limitedUntil.set(Date.now() + (error.retryAfter ?? 5) * 1_000)
    throw error
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

/** What the owner is called; of one that an operator looks at, the address has only the id. */
export function useOwnerName(): string {
  const { looksAt, name } = useOwner()
  return useGet<{ owner: string }>('/credits', {}, { off: !looksAt }).data?.owner ?? name
}

type Reading = { everyMs?: number; off?: boolean }

/** Reads `path` for the owner of the address, and again when the reader comes back. */
export function useGet<T>(path: string, query: Query = {}, { everyMs, off }: Reading = {}) {
  const owner = useOwner()
  return useQuery<T, Failure>({
    queryKey: [owner.slug, path, query],
    queryFn: async ({ signal }) => (await send(owner, 'GET', path, { query, signal })).json(),
    placeholderData: keepPreviousData,
    enabled: !off,
    ...(everyMs ? { refetchInterval: everyMs } : {}),
  })
}

/** A list that is read a page at a time; `rows` names the member of the answer that holds the rows. */
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
      // The list of audit events is bare, with its cursor beside it.
      return Array.isArray(page) ? { [String(rows)]: page, next_cursor: answer.headers.get('x-next-cursor') } : page
    },
    initialPageParam: '',
    getNextPageParam: (last) => (last.next_cursor as string | null) ?? undefined,
    placeholderData: keepPreviousData,
    // A reader who has scrolled on stays where they are.
    refetchInterval: ({ state }) => (everyMs && state.data?.pages.length === 1 ? everyMs : false),
  })
  const of = (page: Record<string, unknown>) => (typeof rows === 'string' ? page[rows] : rows(page as never)) as T[]
  return {
    ...pages,
    rows: pages.data?.pages.flatMap(of),
    /** Rows that are newer than the first. `rows` names their member. */
    prepend: (fresh: readonly T[]) =>
      change(({ pages: [first, ...rest], pageParams }) => ({
        pages: [{ ...first, [String(rows)]: [...fresh, ...of(first!)] }, ...rest],
        pageParams,
      })),
    /** Forgets all pages but the first, and reads that again. */
    restart: () => {
      change(({ pages, pageParams }) => ({ pages: pages.slice(0, 1), pageParams: pageParams.slice(0, 1) }))
      void client.invalidateQueries({ queryKey })
    },
  }
}

/** Sends a change. Afterwards everything that begins with one of `touches` is read again. */
export function useSend<Answer, Body = void>(
  method: Method,
  path: string | ((body: Body) => string),
  touches: readonly string[] = [],
) {
  const owner = useOwner()
  const client = useQueryClient()
  return useMutation<Answer, Failure, Body>({
    mutationFn: async (body) => {
      const isWithoutBody = body === undefined || method === 'DELETE'
      const where = typeof path === 'string' ? path : path(body)
      return (await send(owner, method, where, isWithoutBody ? {} : { body })).json()
    },
    onSuccess: () => {
      const isTouched = ({ queryKey }: { queryKey: readonly unknown[] }) =>
        touches.some((touched) => String(queryKey[1]).startsWith(touched))
      // After what the caller does then: a drawer that closes does not read what was deleted.
      setTimeout(() => void client.invalidateQueries({ predicate: isTouched }))
    },
  })
}

/** Calls without a cache: for what is streamed, and for what is done once. */
export function useCalls() {
  const owner = useOwner()
  return {
    json: async <T>(method: Method, path: string, input?: Input): Promise<T> =>
      (await send(owner, method, path, input)).json(),
    /** Resolves when the answer begins. */
    open: (method: Method, path: string, input: Input) => send(owner, method, path, input),
    /** Saves what a route answers as a file. */
    download: async (path: string, query: Query, name: string): Promise<void> => {
      const link = document.createElement('a')
      link.href = URL.createObjectURL(await (await send(owner, 'GET', path, { query })).blob())
      link.download = name
      link.click()
      URL.revokeObjectURL(link.href)
    },
    /** Reads server-sent events until the answer ends. */
    events: async (
      method: Method,
      path: string,
      input: Input,
      take: (event: ServerEvent) => void,
      heard?: () => void,
    ) => readEvents(await send(owner, method, path, input), take, heard),
  }
}
