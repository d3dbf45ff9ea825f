import { RotateCw } from 'lucide-react'
import { Component, type ErrorInfo, type ReactNode, useEffect, useState } from 'react'
import { Button, Code, CopyButton } from './controls'

/** The facts of a failed call. */
export type Problem = { status: number; code: string; message: string; requestId: string | null }

const GREY_AFTER_MS = 150

/** Grey bars in place of rows. Empty for the first moment, so that fast answers do not flicker. */
export function Loading({ rows = 6 }: { rows?: number }) {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), GREY_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className="loading" role="status" aria-label="Loading">
      {isLate && Array.from({ length: rows }, (_, row) => row).map((row) => <span key={row} className="grey" />)}
    </div>
  )
}

/** An empty list: its purpose, the first action, and the same as a command. */
export function Empty({ text, children, command }: { text: ReactNode; children?: ReactNode; command?: string }) {
  return (
    <div className="empty">
      <p>{text}</p>
      {children && <div className="actions">{children}</div>}
      {command && <Code text={command} label="command" />}
    </div>
  )
}

/** URL of the errors' pages. Set by the shell. */
export const help = { errors: '' }

/** A failed call: the server's message, its code with help, the request id, and a retry. */
export function Failed({ problem, retry }: { problem: Problem; retry?: (() => void) | undefined }) {
  const { status, code, message, requestId } = problem
  return (
    <div className={status === 403 ? 'failed forbidden' : 'failed'} role="alert">
      <p>{message}</p>
      <p className="facts">
        {status > 0 && (
          <a href={`${help.errors}/${code}`}>
            {status} {code}
          </a>
        )}
        {requestId && (
          <>
            <code>{requestId}</code>
            <CopyButton text={requestId} label="Copy the request id" plain />
          </>
        )}
        {retry && status !== 403 && (
          <Button onClick={retry} icon={RotateCw}>
            Retry
          </Button>
        )}
      </p>
    </div>
  )
}

type Reading<T> = {
  data: T | undefined
  error: Problem | null
  isPending: boolean
  isFetching: boolean
  refetch(): unknown
}

export type ShownProps<T> = { of: Reading<T>; rows?: number; children: (data: T) => ReactNode }

/** Shows the loaded data, or the state of loading. Old data stays visible while new data loads. */
export function Shown<T>({ of, rows, children }: ShownProps<T>) {
  if (of.error && of.data === undefined) {
    return <Failed problem={of.error} retry={() => void of.refetch()} />
  }
  if (of.data === undefined) return <Loading {...(rows ? { rows } : {})} />
  return (
    <>
      {of.error && <Failed problem={of.error} retry={() => void of.refetch()} />}
      {children(of.data)}
    </>
  )
}

type Pages = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown }

/** A button that loads the next page of a list, while there is one. */
export const More = ({ pages }: { pages: Pages }) =>
  pages.hasNextPage && (
    <div className="actions">
      <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
        Show more
      </Button>
    </div>
  )

/** Shows that a section crashed, until another place is opened. The rest of the page still works. */
export class Crash extends Component<{ place: string; children: ReactNode }, { details: string | null }> {
  override state = { details: null as string | null }

  static getDerivedStateFromError(error: unknown) {
    return { details: String(error instanceof Error ? (error.stack ?? error) : error) }
  }

  override componentDidCatch(_: unknown, { componentStack }: ErrorInfo) {
    this.setState(({ details }) => ({ details: `${details}\n${componentStack}` }))
  }

  override componentDidUpdate({ place }: { place: string }) {
    if (place !== this.props.place && this.state.details !== null) this.setState({ details: null })
  }

  override render() {
    const { details } = this.state
    if (details === null) return this.props.children
    // After an update, chunks of an older release no longer exist.
    const isOld = /dynamically imported module/.test(details)
    return (
      <div className="failed" role="alert">
        <p>{isOld ? 'A new version is here.' : 'This part of the console stopped working.'}</p>
        <p className="facts">
          {!isOld && <CopyButton text={details} label="Copy details" />}
          <Button onClick={() => location.reload()}>Reload</Button>
        </p>
      </div>
    )
  }
}
