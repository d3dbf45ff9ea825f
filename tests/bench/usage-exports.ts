import { startServerProcess } from '../support/server-process'
import { processorMsOf, residentMb } from './processor'
import { print } from './setup'
import type { Person } from './usage'

const DAY_MS = 86_400_000
const STALL_MS = 5_000
const MB = 1_048_576

type Input = { dataDir: string; person: Person; rows: number }

/**
 * Memory and processor time of a server of its own while it exports: to readers who take a tenth of the rows
 * and then all of them, to one who stops reading for a while, and to some who leave.
 */
export async function benchExports({ dataDir, person, rows }: Input): Promise<void> {
  const server = await startServerProcess({ dataDir })
  const open = (format: string, days: number) => reading(`${server.url}/api/v1/usage/export`, person.key, format, days)
  const memory = () => residentMb(server.pid) * MB
  print(`a server that has just started: ${mb(memory())}`)
  for (const format of ['csv', 'json'])
    for (const days of [8, 90]) {
      const [before, began, cpu] = [memory(), performance.now(), processorMsOf(server.pid)]
      const { bytes, peak } = await drained(await open(format, days), memory)
      const about = days === 8 ? rows / 10 : rows
      const [took, spent] = [(performance.now() - began) / 1_000, (processorMsOf(server.pid) - cpu) / 1_000]
      print(
        `export of ${about} rows as ${format}: ${mb(bytes)} in ${took.toFixed(1)} s (${spent.toFixed(1)} s of processor), ` +
          `memory of the server ${mb(before)} before, ${mb(peak)} at most, ${mb(memory())} after`,
      )
    }
  const [before, cpu] = [memory(), processorMsOf(server.pid)]
  const stalled = await Promise.all(Array.from({ length: 20 }, () => open('csv', 90)))
  for (const reader of stalled) await reader.read()
  await Bun.sleep(STALL_MS)
  print(
    `20 readers who stop after the first piece, for ${STALL_MS / 1_000} s: ${mb(memory() - before)} more, ` +
      `${processorMsOf(server.pid) - cpu} ms of processor`,
  )
  await Promise.all(stalled.map((reader) => reader.cancel()))
  await server.stop()
}

async function reading(url: string, key: string, format: string, days: number) {
  const from = new Date(Date.now() - days * DAY_MS).toISOString()
  const response = await fetch(`${url}?format=${format}&from=${from}`, { headers: { authorization: `Bearer ${key}` } })
  return response.body!.getReader() as ReadableStreamDefaultReader<Uint8Array>
}

async function drained(reader: ReadableStreamDefaultReader<Uint8Array>, memory: () => number) {
  let [bytes, peak] = [0, memory()]
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.byteLength
    peak = Math.max(peak, memory())
  }
  return { bytes, peak }
}

const mb = (bytes: number) => `${Math.round(bytes / MB)} MB`
