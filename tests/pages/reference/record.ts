/**
 * `bun run make examples FILE…`: makes `src/pages/reference/recorded.json`, the example answers of the reference, of
 * what servers answered in tests that ran with `SVC_RECORD=FILE`. Of each route the answer that shows most is taken;
 * lists and texts are shortened, secrets are blotted out, and what no longer fits its schema is left out.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Ajv2020 from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { loadConfig } from '../../../src/app/config'
import { openApp } from '../../../src/app/open'
import { systemClock } from '../../../src/kernel/clock'
import { createLog } from '../../../src/kernel/log'
import { type Document, groupsOf } from '../../../src/pages/reference/operations'

const TARGET = join(import.meta.dir, '../../../src/pages/reference/recorded.json')
const MAX_CHARS = 2_500
const MAX_TEXT = 160
const MAX_ITEMS = 1

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Ids, tokens and secrets of a test say nothing, and look like real ones to those who search for them. */
const blotted = (text: string): string =>
  text
    .replace(/\b(svc_[a-z]+_(?:live_|test_)?)[A-Za-z0-9_-]{12,}/g, '$1…')
    .replace(/\b(whsec_|signature=)[A-Za-z0-9_+/=-]{8,}/g, '$1…')
    .replace(/http:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?/g, 'https://svc.example')

function shortened(value: Json, name = ''): Json {
  if (typeof value === 'string') {
    const text = /secret$/.test(name) && /^[0-9a-f]{64}$/.test(value) ? '…' : blotted(value)
    return text.length > MAX_TEXT && !/token|secret|signature|hash/i.test(name) ? `${text.slice(0, MAX_TEXT)}…` : text
  }
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((one) => shortened(one, name))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([member, one]) => [member, shortened(one, member)]))
}

/** How much an answer shows: members that are there and not empty. */
function notify(value: Json): number {
  if (value === null || value === '' || value === false) return 0
  if (typeof value !== 'object') return 1
  const own = Array.isArray(value) ? value.slice(0, MAX_ITEMS) : Object.values(value)
  return own.reduce<number>((sum, one) => sum + notify(one), 0)
}

const fits = await createCheck()
const best = new Map<string, { answer: Json; told: number }>()
for (const file of process.argv.slice(2)) {
  for (const line of (await Bun.file(file).text()).split('\n').filter(Boolean)) {
    const [id, body] = JSON.parse(line) as [string, Json]
    const answer = shortened(body)
    const seen = { answer, told: notify(answer) }
    if (seen.told <= (best.get(id)?.told ?? -1) || JSON.stringify(answer).length > MAX_CHARS) continue
    if (fits(id, answer)) best.set(id, seen)
  }
}
const sorted = [...best].toSorted(([a], [b]) => a.localeCompare(b)).map(([id, { answer }]) => [id, answer])
await Bun.write(TARGET, `${JSON.stringify(Object.fromEntries(sorted), null, 1)}\n`)
process.stdout.write(`${sorted.length} answers written\n`)

/** Whether an answer fits the schema of its route, by the document as it is now. */
async function createCheck(): Promise<(id: string, answer: Json) => boolean> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-record-'))
  const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
  const app = await openApp({ config: loadConfig({ dataDir }), clock: systemClock, log })
  const answer = await app.api.handle(new Request('http://localhost/openapi.json'))
  const document = (await answer.json()) as Document
  await app.close()
  rmSync(dataDir, { recursive: true, force: true })
  const ajv = new Ajv2020({ strict: false, validateSchema: false, unicodeRegExp: true })
  addFormats(ajv)
  const text = JSON.stringify(document.components).replaceAll('"#/components', '"document#/components')
  ajv.addSchema({ components: JSON.parse(text) }, 'document')
  const checks = new Map(
    groupsOf(document)
      .flatMap(({ operations }) => operations)
      .filter(({ success }) => success.schema)
      .map(({ id, success }) => [
        id,
        ajv.compile(JSON.parse(JSON.stringify(success.schema).replaceAll('"#/components', '"document#/components'))),
      ]),
  )
  return (id, given) => checks.get(id)?.(given) === true
}
