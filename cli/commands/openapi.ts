import { writeFileSync } from 'node:fs'
import { commandsOf } from '../command'
import { EXIT, expectData, replyFailure, unreachable } from '../failure'
import { readValueFile } from '../files'
import { safeJson } from '../output/json'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { text } from '../words'

const command = commandsOf('', { apis: ['operator', 'tenant'], exits: [] })

type Document = { paths: Record<string, Record<string, unknown>> }

/** The document for generating clients (docs/api.md 23.1), as the server publishes it. */
export const openapi = command`openapi (exits 10): Print the API's OpenAPI 3.1 document, or compare a file with it
  Needs no API key. --check lists the operations that the file lacks, that only the file has, or that differ, and then exits 10.
  $ openapi --out openapi.json
  $ openapi --check openapi.json`({
  flags: {
    out: text('FILE', 'file to write instead of stdout'),
    check: text('FILE', 'compare this file with it; exits 10 on a difference'),
  },
  async run(shell, { out, check }) {
    const connection = await shell.connect()
    const isAway = connection.transport.kind === 'remote' && connection.api === 'operator'
    const { api_url } = isAway ? expectData(await connection.ops().status.get()) : { api_url: 'http://localhost' }
    if (!api_url) throw unreachable("The server's API has no address.")
    const response = await connection.follow(new URL('/openapi.json', api_url).href)
    const body = await response.text()
    if (!response.ok) throw replyFailure(response.status, body)
    const document: Document = JSON.parse(body)
    if (check !== undefined) return compare(shell, (await readValueFile(shell, check)) as Partial<Document>, document)
    const written = safeJson(document, 2)
    if (out === undefined) return shell.io.out(written)
    writeFileSync(fromHere(shell.cwd, out), `${written}\n`)
    shell.io.out(out)
  },
})

function compare(shell: Shell, stored: Partial<Document>, now: Document): void {
  const [before, after] = [operationsOf(stored), operationsOf(now)]
  const differences = [
    ...[...after.keys()].filter((name) => !before.has(name)).map((name) => `missing  ${name}`),
    ...[...before.keys()].filter((name) => !after.has(name)).map((name) => `gone     ${name}`),
    ...[...after].filter(([name, text]) => (before.get(name) ?? text) !== text).map(([name]) => `changed  ${name}`),
  ]
  const isSame = Bun.deepEquals(stored, now)
  for (const line of differences) shell.io.out(line)
  if (!isSame && !differences.length) shell.io.out('changed  parts shared by all operations')
  if (isSame) shell.note('The file matches this server.')
  else shell.exitCode = EXIT.wouldChange
}

/** The description of each operation, by method and path. */
const operationsOf = ({ paths = {} }: Partial<Document>): Map<string, string> =>
  new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, message]) => [`${method.toUpperCase()} ${path}`, JSON.stringify(message)] as const,
      ),
    ),
  )
