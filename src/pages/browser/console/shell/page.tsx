import { type ReactNode, useEffect, useRef } from 'react'
import { useOwner } from './api'

type Props = { title: string; actions?: ReactNode; isBusy?: boolean; children: ReactNode; isFull?: boolean }

/** One screen: its title, what can be done, and its content. A thin bar runs while something is read again. */
export function Page({ title, actions, isBusy, children, isFull }: Props) {
  const owner = useOwner()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · ${owner.name} · svc`
  }, [title, owner.name])
  return (
    <main id="main" className={isFull ? 'page full' : 'page'} aria-busy={isBusy || undefined}>
      <div className={isBusy ? 'progress runs' : 'progress'} aria-hidden="true" />
      <header className="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </main>
  )
}
