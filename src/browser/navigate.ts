import type { HTTPResponse, Page } from 'puppeteer-core'
import { AppError, atField } from '../kernel/errors'
import type { Outbound } from '../kernel/outbound'
import { ToolFailure } from '../tools'
import { type LiveBrowser, within } from './live'

const NAVIGATION_MS = 20_000
const START_MS = 5_000
/** Time after a navigation within which a download of its address starts. */
const DOWNLOAD_MS = 1_000

/**
 * Validates an address that a session may open: public, http or https. Each connection checks it again. The part after
 * `#` stays in the browser. Throws 400 `url_blocked`, which names `field`.
 */
export async function readAddress(
  outbound: Pick<Outbound, 'assertPublicUrl'>,
  text: string,
  field: string,
): Promise<string> {
  const hash = text.indexOf('#')
  try {
    await outbound.assertPublicUrl(hash < 0 ? text : text.slice(0, hash))
  } catch (error) {
    throw error instanceof AppError ? atField(error, field) : error
  }
  return text
}

/** How long a navigation waits. `started` returns when the page begins to arrive, after 5 s at most. */
type Until = 'started' | 'load' | 'domcontentloaded'

/**
 * Opens an address in the front tab. Returns the HTTP status, or null if there is none, for example for an anchor on
 * the same page. Throws {@link ToolFailure} if neither a page nor a download arrives.
 */
export async function goTo(live: LiveBrowser, url: string, until: Until): Promise<number | null> {
  const page = live.page()
  let status: number | null = null
  const onResponse = (response: HTTPResponse) => {
    const isOfPage = response.request().isNavigationRequest() && response.frame() === page.mainFrame()
    if (isOfPage) status = response.status()
  }
  page.on('response', onResponse)
  try {
    await open(live, page, url, until)
    return status
  } finally {
    page.off('response', onResponse)
  }
}

async function open(live: LiveBrowser, page: Page, url: string, until: Until): Promise<void> {
  if (until === 'started') {
    const going = page.goto(url, { waitUntil: 'domcontentloaded', timeout: NAVIGATION_MS }).catch(() => null)
    await within(going, null, START_MS)
    return
  }
  try {
    const response = await page.goto(url, { waitUntil: until, timeout: NAVIGATION_MS })
    if (response?.status() === 403 && /not a public http or https address/.test(await within(response.text(), ''))) {
      throw new ToolFailure('The address redirects to one that is not public, so it cannot be opened here.')
    }
  } catch (error) {
    if (error instanceof ToolFailure) throw error
    // A page that never finishes loading is still usable.
    if ((error as Error).name === 'TimeoutError' && page.url() !== 'about:blank') return
    if (/ABORTED/.test(String(error)) && (await live.downloads.began(DOWNLOAD_MS))) return
    throw new ToolFailure(
      `The page did not open: ${REASONS.find(([pattern]) => pattern.test(String(error)))?.[1] ?? 'the connection ended'}.`,
    )
  }
}

const REASONS: [RegExp, string][] = [
  [/TUNNEL_CONNECTION_FAILED/, 'its address cannot be reached, or is not public'],
  [/NAME_NOT_RESOLVED/, 'its host name does not exist'],
  [/CERT|SSL/, 'its certificate was not accepted'],
  [/ABORTED/, 'it has no content, or another navigation replaced it'],
  [/TimeoutError|timeout/i, 'it took too long'],
  [/TOO_MANY_REDIRECTS/, 'it redirects endlessly'],
]
