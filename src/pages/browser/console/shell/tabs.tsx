import { type ComponentType, useEffect } from 'react'
import { Link } from 'wouter'
import { useFilters } from '../ui/filters'
import { useOwner } from './api'
import { PageTabs } from './page'

type Tab = { id: string; label: string; screen: ComponentType }

/** A section of several screens; `tab` in the address says which is shown, and the first needs no word. */
export const defineTabs = (section: string, tabs: readonly Tab[]): ComponentType =>
  function Tabbed() {
    const owner = useOwner()
    const { filters } = useFilters()
    const { id, screen: Screen } = tabs.find((tab) => tab.id === filters.tab) ?? tabs[0]!
    // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each tab, whose name may be outside a small screen
    useEffect(() => {
      document.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest' })
    }, [id])
    const nav = (
      <nav className="tabs" aria-label="Parts of this section">
        {tabs.map((tab, at) => (
          <Link
            key={tab.id}
            href={`/${owner.slug}/${section}${at === 0 ? '' : `?tab=${tab.id}`}`}
            aria-current={tab.id === id ? 'page' : undefined}
          >
            {tab.label}
          </Link>
        ))}
      </nav>
    )
    return (
      <PageTabs value={nav}>
        <Screen key={id} />
      </PageTabs>
    )
  }
