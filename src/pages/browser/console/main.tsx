import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Router } from 'wouter'
import { SECTIONS } from './sections'
import { queries } from './shell/api'
import { at } from './shell/boot'
import { Frame } from './shell/frame'
import { help } from './ui/states'
// Small parts that nearly every section uses. Imported here, they are in the entry and need no files of their own.
import './shell/form'
import './shell/tabs'
import './ui/facts'
import './ui/filters'
import './ui/format'
import './ui/markdown'
import './ui/rows'
import './ui/waterfall'

help.errors = at('/docs/errors')

createRoot(document.getElementById('console')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Router base={at('/console')}>
        <Frame sections={SECTIONS} />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
)
