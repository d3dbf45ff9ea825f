import { readFileSync } from 'node:fs'
import type { Browser } from 'puppeteer-core'
import type { Log } from '../kernel/log'
import { controlOf } from './live'

const KB_OF_MB = 1_024

/**
 * Ends each process of pages that takes more memory than it may (contract 16, N8). Chromium never shares one between
 * sessions; the session opens the page anew, once. Which process is whose Chromium does not tell. Returns how many it
 * ended, and what all took in MB: null for a browser that runs elsewhere.
 */
export async function endGreedyPages(browser: Browser, mostMb: number, log: Log) {
  if (!browser.process()?.pid || process.platform !== 'linux') return { ended: 0, megabytes: null }
  const { processInfo } = await (await controlOf(browser)).send('SystemInfo.getProcessInfo')
  let [ended, megabytes] = [0, 0]
  for (const { type, id } of processInfo) {
    const mb = type === 'renderer' ? ownMegabytes(id) : 0
    megabytes += mb
    if (mb <= mostMb) continue
    log.warn({ mb: Math.round(mb), most_mb: mostMb }, 'a page used too much memory and was closed')
    try {
      process.kill(id, 'SIGKILL')
      ended += 1
    } catch {
      // It ended by itself meanwhile.
    }
  }
  return { ended, megabytes: Math.round(megabytes) }
}

/** What a process has in memory besides files, in MB; 0 for one that is gone. */
function ownMegabytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
    return (kb('RssAnon') + kb('RssShmem')) / KB_OF_MB
  } catch {
    return 0
  }
}
