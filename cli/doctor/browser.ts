import { type Check, fail, hostCheck, ok, skip, warn } from './check'

/** The browser driver is large, so it is loaded only when a check needs it. */
const loadExaminer = () => import('../../src/browser/examine')
type Examined = Awaited<ReturnType<Awaited<ReturnType<typeof loadExaminer>>['examineBrowser']>>

const FRAME_MS = 1_000
const INSTALL = 'apt-get install chromium-headless-shell'

/** Checks whether sessions can be started at all. `browser doctor` starts one. */
export const browserCheck = hostCheck('browser', ['config'], async (context) => {
  const { browserWsEndpoint, browserPath } = context.config()
  if (browserWsEndpoint) return ok('remote, set with SVC_BROWSER_WS_ENDPOINT')
  if (browserPath === 'off') return skip('off; POST /browser/sessions answers 501')
  const path = (await loadExaminer()).findChromium(context.config())
  if (path) return ok(path)
  return browserPath
    ? fail(`SVC_BROWSER_PATH is ${browserPath}, which is not a program here`, 'svc-admin config explain browserPath')
    : warn('no Chromium on this machine; POST /browser/sessions answers 501', INSTALL)
})

/** The checks of `browser doctor` (docs/operating.md 2.15): what sessions get, measured with one start. */
export function browserChecks(): Check[] {
  let examined: Promise<Examined> | null = null
  const examine: (of: Parameters<Check['run']>[0]) => Promise<Examined> = ({ config, shell }) => {
    examined ??= loadExaminer().then(({ examineBrowser }) => examineBrowser(config(), () => shell.clock.monotonic()))
    return examined
  }
  return [
    {
      ...browserCheck,
      needs: [],
      async run(context) {
        const found = await browserCheck.run(context)
        return found.status === 'warn' ? { ...found, status: 'fail' } : found
      },
    },
    hostCheck('start', ['browser'], async (context) => {
      const { version, startMs } = await examine(context)
      return ok(`${version} in ${startMs} ms`)
    }),
    hostCheck('frame', ['start'], async (context) => {
      const { frameMs } = await examine(context)
      const detail = `first frame of a new tab after ${frameMs} ms`
      return frameMs > FRAME_MS ? warn(`${detail}; ${FRAME_MS} or less is usual`, 'nproc; uptime') : ok(detail)
    }),
    hostCheck('sandbox', ['browser'], async (context) => {
      const settings = context.config()
      if (settings.browserWsEndpoint) return skip('the browser runs elsewhere')
      if ((await loadExaminer()).isSandboxed(settings)) return ok('each page is in the sandbox of Chromium')
      return settings.browserSandbox
        ? warn('Chromium cannot use its sandbox as root', 'run the server as another user')
        : warn('SVC_BROWSER_SANDBOX is 0', 'unset SVC_BROWSER_SANDBOX')
    }),
    hostCheck('fonts', ['start'], async (context) => {
      const { missing } = await examine(context)
      if (!missing.length) return ok('for every tested script and emoji')
      const found = missing.includes('latin') ? fail : warn
      return found(`no fonts for ${missing.join(', ')}: pages show boxes instead`, 'apt-get install fonts-noto')
    }),
  ]
}
