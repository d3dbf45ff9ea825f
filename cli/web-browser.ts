import { spawn } from 'node:child_process'
import type { Shell } from './shell'

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
const OTHERS = ['xdg-open', 'sensible-browser', 'wslview'] as const

/** Opens an http(s) address in the web browser of whoever sits here. False when this machine has none. */
export function openInWebBrowser({ env }: Pick<Shell, 'env'>, address: string): boolean {
  const { href, protocol } = new URL(address)
  if (!/^https?:$/.test(protocol)) return false
  const known = OPENERS[process.platform] ?? [env.BROWSER, ...OTHERS].find((name) => name && Bun.which(name))
  if (!known) return false
  const [program, ...args] = typeof known === 'string' ? [known] : known
  // It lives on when the command has ended, and its words are not for this terminal.
  const child = spawn(program!, [...args, href], { detached: true, stdio: 'ignore' })
  child.on('error', () => undefined)
  child.unref()
  return true
}
