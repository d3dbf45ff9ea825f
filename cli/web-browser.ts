import { spawn } from 'node:child_process'
import type { Shell } from './shell'

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
const OTHERS = ['xdg-open', 'sensible-browser', 'wslview'] as const
/** Programs that find no browser end sooner; a browser that runs on is open. */
const OPENING_MS = 2_000

/**
 * Opens an http(s) address in the web browser of whoever sits here. False when this machine has none, no screen to show
 * one on, or one that fails.
 */
export async function openInWebBrowser(
  { env, clock }: Pick<Shell, 'env' | 'clock'>,
  address: string,
): Promise<boolean> {
  const { href, protocol } = new URL(address)
  if (!/^https?:$/.test(protocol)) return false
  const hasScreen = env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME
  const others = [env.BROWSER, ...(hasScreen ? OTHERS : [])]
  const known = OPENERS[process.platform] ?? others.find((name) => name && Bun.which(name))
  if (!known) return false
  const [program, ...args] = typeof known === 'string' ? [known] : known
  // It lives on when the command has ended, and its words are not for this terminal.
  const child = spawn(program!, [...args, href], { detached: true, stdio: 'ignore' })
  const waited = new AbortController()
  const ended = new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  }).finally(() => waited.abort())
  const opened = await Promise.race([ended, clock.sleep(OPENING_MS, waited.signal).then(() => true)])
  child.unref()
  return opened
}
