import { Download } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../ui/controls'
import { Dialog } from '../ui/overlay'
import { Failed, type Problem } from '../ui/states'
import { type Query, useCalls } from './api'
import { DOCS } from './boot'

type Props = { path: string; formats: readonly string[]; section: string; query: Query }

/** What a list shows, with its filters, as a file. */
export function SaveAs({ path, formats, section, query }: Props) {
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
      <Button onClick={() => setOpen(true)}>
        <Download size={16} aria-hidden="true" />
        Export
      </Button>
      {isOpen && (
        <Dialog title="Export" onClose={() => setOpen(false)}>
          <p>Every row that passes the filters, newest first. The export is recorded in the audit events.</p>
          {problem && <Failed problem={problem} docs={DOCS} />}
          <div className="actions end">
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            {formats.map((format) => (
              <Button key={format} busy={busy === format} onClick={() => void save(format)}>
                {format.toUpperCase()}
              </Button>
            ))}
          </div>
        </Dialog>
      )}
    </>
  )
}
