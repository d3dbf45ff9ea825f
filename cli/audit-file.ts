import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import Papa from 'papaparse'
import { cellsOfEvent, EXPORT_COLUMNS } from '../src/audit/proof'
import type { AuditEvent } from '../src/audit/schema'
import { CSV_BEGIN } from '../src/kernel/csv'

/** The records of an export (CSV or JSON Lines), header first. Streamed, because a file may be larger than memory. */
export async function* recordsOf(path: string): AsyncGenerator<string[]> {
  if (await isJsonLines(path)) yield* eventsOf(path)
  else {
    const parser = createReadStream(path, 'utf8').pipe(Papa.parse(Papa.NODE_STREAM_INPUT, { skipEmptyLines: true }))
    let isFirst = true
    for await (const [first = '', ...rest] of parser as AsyncIterable<string[]>) {
      yield [isFirst ? first.replace(CSV_BEGIN, '') : first, ...rest]
      isFirst = false
    }
  }
}

const isJsonLines = async (path: string): Promise<boolean> => (await Bun.file(path).slice(0, 1).text()) === '{'

async function* eventsOf(path: string): AsyncGenerator<string[]> {
  yield [...EXPORT_COLUMNS]
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY }))
    if (line) yield cells(line)
}

/** A line that is not an event becomes a record without cells, which the verification rejects. */
function cells(line: string): string[] {
  try {
    return cellsOfEvent(JSON.parse(line) as AuditEvent)
  } catch {
    return []
  }
}
