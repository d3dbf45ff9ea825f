import { createHelper, HelperFailure } from '../../kernel/helper'
import { type Outbound, OutboundFailure, type PublicResponse } from '../../kernel/outbound'
import { storable } from '../../kernel/text'
import { type Tool, ToolFailure } from '../tool'
import { decodeText } from './decode'
import type { PageAnswer, PageOrder } from './page-reader.worker'

const MAX_BYTES = 2 * 1024 * 1024
const MAX_HOPS = 5
const HOP_MS = 10_000
const READ_MS = 5_000
const MAX_CHARS = 200_000

const PAGE = /^(text\/html|application\/xhtml\+xml)$/
const PLAIN = /^(text\/[\w.+-]+|application\/(json|xml|javascript|[\w.-]+\+(json|xml)))$/

type Deps = { outbound: Outbound }
type Fetched = PublicResponse & { url: string }

/**
 * What an address says, for an engine to read: the article of a page, or plain text as it is. Through the
 * guarded door, every hop of a redirect too; at most 2 MiB.
 */
export function createWebFetch({ outbound }: Deps): Tool {
  const reader = createHelper<PageOrder, PageAnswer>({
    open: () => new Worker(new URL('./page-reader.worker.ts', import.meta.url).href),
    most: 2,
    idleMs: 30_000,
  })

  return {
    name: 'web_fetch',
    description:
      'Reads one public web address and gives its title and readable text. Reads HTML, plain text, JSON and XML.',
    inputSchema: {
      type: 'object',
      properties: { url: { type: 'string', minLength: 8, maxLength: 2_048, description: 'An http or https address' } },
      required: ['url'],
    },
    outputSchema: {
      type: 'object',
      properties: { url: { type: 'string' }, title: { type: ['string', 'null'] }, text: { type: 'string' } },
      required: ['url', 'title', 'text'],
    },
    category: 'search',
    permissionLevel: 'user',
    requiresApproval: false,
    skillId: null,
    timeoutMs: 20_000,
    run: async ({ url }, { signal }) => {
      const fetched = await follow(withoutFragment(url as string), signal)
      const { title, text } = await read(fetched, signal)
      return { url: fetched.url, title: title === null ? null : storable(title), text: storable(text) }
    },
  }

  /** A redirect is a new address somebody else chose, so each goes through the door again. */
  async function follow(first: string, signal: AbortSignal): Promise<Fetched> {
    let url = first
    for (let hop = 0; hop <= MAX_HOPS; hop++) {
      const answer = await fetchOnce(url, signal)
      const next = nextOf(answer, url)
      if (next === null) return { ...answer, url }
      url = next
    }
    throw new ToolFailure(`The address leads on more than ${MAX_HOPS} times.`)
  }

  async function fetchOnce(url: string, signal: AbortSignal): Promise<PublicResponse> {
    try {
      const headers = { 'user-agent': 'svc-fetch/1', accept: 'text/html,application/json,text/*;q=0.9,*/*;q=0.1' }
      return await outbound.fetchPublic(url, { headers, maxBytes: MAX_BYTES, timeoutMs: HOP_MS, signal })
    } catch (error) {
      if (error instanceof OutboundFailure) throw new ToolFailure(`The address could not be read: ${error.message}.`)
      throw error
    }
  }

  async function read({ status, headers, body }: Fetched, signal: AbortSignal): Promise<PageAnswer> {
    if (status < 200 || status > 299) throw new ToolFailure(`The address answered with status ${status}.`)
    const contentType = headers['content-type'] ?? 'text/plain'
    const mime = contentType.split(';')[0]!.trim().toLowerCase()
    if (PAGE.test(mime)) return await readPage(decodeText(body, contentType), signal)
    if (PLAIN.test(mime)) return { title: null, text: decodeText(body, contentType).slice(0, MAX_CHARS) }
    throw new ToolFailure(`The address holds ${mime.slice(0, 80)}, which this tool does not read.`)
  }

  async function readPage(html: string, signal: AbortSignal): Promise<PageAnswer> {
    try {
      return await reader.do({ html, maxChars: MAX_CHARS }, { timeoutMs: READ_MS, signal })
    } catch (error) {
      if (error instanceof HelperFailure)
        throw new ToolFailure('The page could not be read: it is too large or broken.')
      throw error
    }
  }
}

const withoutFragment = (url: string): string => url.split('#')[0]!

/** Where an answer sends its reader; null when it is the end of the way. */
function nextOf({ status, headers }: PublicResponse, from: string): string | null {
  if (![301, 302, 303, 307, 308].includes(status) || !headers.location) return null
  if (!URL.canParse(headers.location, from)) throw new ToolFailure('The address leads on to one that is none.')
  return withoutFragment(new URL(headers.location, from).href)
}
