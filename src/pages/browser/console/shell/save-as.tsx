import { Download } from 'lucide-react'
import { useState } from 'react'
import type { RequestRow } from '../../../../usage/schema'
import { Button } from '../ui/controls'
import { Grid } from '../ui/facts'
import { plural } from '../ui/format'
import { Dialog } from '../ui/overlay'
import { Failed, type Problem } from '../ui/states'
import { type Query, useCalls } from './api'

/** The members of a row of a file, in the order of its columns. */
export type Line = Record<string, unknown>

/** The members of a row that go into a file. */
export const lineOf = (row: Line, columns: readonly string[]): Line =>
  Object.fromEntries(columns.map((name) => [name, row[name]]))

const CALL = [
  ...['timestamp', 'request_id', 'api_key_id', 'endpoint', 'mode', 'resolved_mode', 'model', 'status'],
  ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'cost_cents', 'cached', 'latency_ms'],
]
/** A call in the format of the usage file. */
export const lineOfCall = (row: RequestRow): Line =>
  lineOf({ ...row, total_tokens: row.prompt_tokens + row.completion_tokens }, CALL)

/** Number of rows in the preview of a file. */
const PREVIEWED = 20

/** Preview of the beginning of a file. */
export function Preview({ lines }: { lines: readonly Line[] }) {
  const [first] = lines
  if (!first) return <p className="faint">No row passes the filters; the file has only its heads.</p>
  return (
    <Grid
      className="file"
      label={`The first ${plural(Math.min(lines.length, PREVIEWED), 'row')}`}
      heads={Object.keys(first)}
      rows={lines.slice(0, PREVIEWED).map((line, at) => ({
        key: String(at),
        cells: Object.values(line).map((value) =>
          typeof value === 'number'
            ? value
            : typeof value === 'string'
              ? value
              : value == null
                ? ''
                : JSON.stringify(value),
        ),
      }))}
    />
  )
}

type Props = {
  path: string
  formats: readonly string[]
  section: string
  query: Query
  /** The loaded rows of the list, which are the first of the file. */
  lines: readonly Line[] | undefined
}

/** Saves the content of a list, with its filters, as a file. */
export function SaveAs({ path, formats, section, query, lines }: Props) {
  const { download } = useCalls()
  const [isOpen, setOpen] = useState(false)
  const [busy, setBusy] = useState<string | null>(null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const save = async (format: string) => {
    setProblem(null)
    setBusy(format)
    await download(path, { ...query, format }, `${section}.${format}`).then(() => setOpen(false), setProblem)
    setBusy(null)
  }
  return (
    <>
      <Button onClick={() => setOpen(true)} icon={Download}>
        Export
      </Button>
      {isOpen && (
        <Dialog title="Export" onClose={() => setOpen(false)} wide>
          <p>Every row that passes the filters, newest first. The export is recorded in the audit events.</p>
          {lines && <Preview lines={lines} />}
          {problem && <Failed problem={problem} />}
          <div className="actions end">
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            {formats.map((format) => (
              <Button key={format} busy={busy === format} onClick={() => void save(format)}>
                Save as {format.toUpperCase()}
              </Button>
            ))}
          </div>
        </Dialog>
      )}
    </>
  )
}
