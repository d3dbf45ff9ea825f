import type { Values } from '../kernel/config'
import { findChromium, isSandboxed, startChromium } from './chromium'
import type { browserSettings } from './config'

export { findChromium, isSandboxed }

/** Sample letters, by script. */
const SAMPLES = { latin: 'Ag', greek: 'Ωλ', cyrillic: 'Жд', arabic: 'مر', cjk: '中文', emoji: '😀' } as const
type Letters = keyof typeof SAMPLES

export type Examined = {
  /** `HeadlessChrome/153.0…` */
  version: string
  /** Milliseconds until the browser ran, and from an empty tab to its first frame. */
  startMs: number
  frameMs: number
  /** Scripts that no font of this machine covers. The browser shows boxes for them. */
  missing: Letters[]
}

const FRAME_MS = 10_000

/** Starts the browser that sessions would use, draws a page in it and ends it. Throws the problem. */
export async function examineBrowser(settings: Values<typeof browserSettings>, now: () => number): Promise<Examined> {
  const began = now()
  const browser = await startChromium(settings)
  try {
    const startMs = Math.round(now() - began)
    const opened = now()
    const page = await browser.newPage()
    const cdp = await page.createCDPSession()
    const { promise: drawn, resolve, reject } = Promise.withResolvers<void>()
    cdp.once('Page.screencastFrame', () => resolve())
    const timer = setTimeout(() => reject(new Error(`no frame came within ${FRAME_MS / 1_000} s`)), FRAME_MS)
    await cdp.send('Page.startScreencast', { format: 'jpeg' })
    await page.setContent('<h1>svc</h1>')
    await drawn.finally(() => clearTimeout(timer))
    const frameMs = Math.round(now() - opened)
    const missing = (await page.evaluate(withoutFont, Object.entries(SAMPLES))) as Letters[]
    return { version: await browser.version(), startMs, frameMs, missing }
  } finally {
    if (settings.browserWsEndpoint) await browser.disconnect()
    else await browser.close()
  }
}

/** Runs in the page. Returns the samples that look like a character that no font can have. */
function withoutFont(samples: [string, string][]): string[] {
  const canvas = document.createElement('canvas')
  const pen = canvas.getContext('2d')!
  const looks = (text: string): string => {
    pen.clearRect(0, 0, canvas.width, canvas.height)
    pen.font = '24px sans-serif'
    pen.fillText(text, 4, 40)
    return canvas.toDataURL()
  }
  const [empty, box] = [looks(''), looks('\u{10fffe}')]
  return samples
    .filter(([, text]) => [...text].some((letter) => [empty, box].includes(looks(letter))))
    .map(([name]) => name)
}
