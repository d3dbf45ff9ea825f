import { auditOver, type ExportFormat } from '../audit-plane'
import { defineCommand } from '../command'
import { deliver } from '../download'
import { usageFailure } from '../failure'
import { formatOf } from '../globals'
import { safeJson } from '../output/json'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { flag, text } from '../words'
import { common, filters, whose, wordsOf } from './audit'

export const exportAudit = defineCommand({
  ...common,
  path: 'audit export',
  summary: 'Write the record of an owner as CSV or JSON lines, newest first',
  about:
    'Writes the file of GET /audit/export as it is read, and is recorded as audit.exported. The file is CSV; with -o jsonl it has the events themselves with their hashes, one a line. --checkpoint first writes the newest signed checkpoint: audit verify needs the two files. With --sign the server signs the file as it left, into FILE.sig. A filter other than --from and --to leaves events out, so that the chain cannot be followed.',
  examples: [
    'audit export --out audit.csv --checkpoint checkpoint.json',
    'audit export -o jsonl --out audit.jsonl --sign',
    'audit export acme --from 2026-01-01 --to 2026-01-31 > january.csv',
  ],
  exits: [3, 4, 7],
  args: whose,
  flags: {
    ...filters,
    out: text('FILE', 'where to, instead of stdout; readable by you only'),
    checkpoint: text('FILE', 'where to put the newest signed checkpoint'),
    sign: flag('write a detached signature beside --out, as FILE.sig'),
  },
  async run(shell, { owner = shell.globals.org, out, checkpoint, sign, ...given }) {
    const format = fileFormat(shell)
    if (sign && !out) throw usageFailure('--sign writes its signature beside a file.', 'add --out FILE')
    const plane = await auditOver(await shell.connect(), owner)
    if (checkpoint) await Bun.write(fromHere(shell.cwd, checkpoint), `${safeJson(await plane.checkpoint())}\n`)
    const { pieces, requestId } = await plane.export(wordsOf(shell, given), format)
    await deliver(shell, pieces, out)
    if (!sign) return
    const path = `${fromHere(shell.cwd, out!)}.sig`
    await Bun.write(path, `${safeJson(await plane.signature(requestId))}\n`)
    shell.note(`Signed: svc-admin audit verify --export ${out} --signature ${out}.sig`)
  },
})

/** The file format for `-o`; a table is not possible. @throws CommandFailed 2 */
function fileFormat({ globals }: Shell): ExportFormat {
  const asked = formatOf(globals)
  if (asked === 'jsonl' || asked === 'json') return 'jsonl'
  if (asked === 'csv' || asked === 'table') return 'csv'
  throw usageFailure(`audit export writes csv or jsonl, not ${asked}.`, '-o jsonl')
}
