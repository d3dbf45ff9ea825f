import { ownerOf } from '../../kernel/caller'
import { type Outbound, OutboundFailure, type PublicResponse } from '../../kernel/outbound'
import { createSemaphore } from '../../kernel/semaphore'
import { storable } from '../../kernel/text'
import { type Tool, ToolFailure } from '../tool'
import { createReading, type Given, MAX_BYTES } from './reading'

const MAX_HOPS = 5
const HOP_MS = 10_000
/** Each fetch may hold 8 MiB in memory, so this bounds the total to 128 MiB. */
const MOST_AT_ONCE = 16
const MOST_OF_ONE = 8

type Deps = { outbound: Outbound }
type Fetched = PublicResponse & { url: string }

/**
 * The `web_fetch` tool: the article of a page, the text of a PDF, or plain text unchanged. Every request, redirects
 * included, goes through the SSRF guard; at most 2 MiB, or 8 MiB for a PDF.
 */
export function createWebFetch({ outbound }: Deps): Tool {
  const read = createReading()
  const semaphore = createSemaphore(MOST_AT_ONCE, MOST_OF_ONE)

  return {
    name: 'web_fetch',
    description:
      'Reads one public web address and gives its title and readable text. Reads HTML, PDF, plain text, JSON and XML.',
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
    run: ({ url }, { signal, call }) => {
      const who = ownerOf(call.caller)
      return semaphore.run(who, async () => {
        signal.throwIfAborted()
        const fetched = await follow(withoutFragment(url as string), signal)
        const { title, text } = await read(given(fetched), { signal, who })
        return { url: fetched.url, title: title === null ? null : storable(title), text: storable(text) }
      })
    },
  }

  /** Follows redirects one by one, because each target must pass the SSRF guard again. */
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
      const headers = {
        'user-agent': 'svc-fetch/1',
        accept: 'text/html,application/json,application/pdf,text/*;q=0.9,*/*;q=0.1',
      }
      return await outbound.fetchPublic(url, { headers, maxBytes: MAX_BYTES, timeoutMs: HOP_MS, signal })
    } catch (error) {
      if (error instanceof OutboundFailure) throw new ToolFailure(`The address could not be read: ${error.message}.`)
      throw error
    }
  }
}

function given({ status, headers, body }: Fetched): Given {
  if (status < 200 || status > 299) throw new ToolFailure(`The address answered with status ${status}.`)
  return { contentType: headers['content-type'] ?? 'text/plain', body }
}

const withoutFragment = (url: string): string => url.split('#')[0]!

/** The redirect target of a response, without its fragment; null when it is no redirect. */
function nextOf({ status, headers }: PublicResponse, from: string): string | null {
  if (![301, 302, 303, 307, 308].includes(status) || !headers.location) return null
  if (!URL.canParse(headers.location, from)) throw new ToolFailure('The address leads on to one that is none.')
  return withoutFragment(new URL(headers.location, from).href)
}
