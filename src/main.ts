import { loadServer } from './app/bundle'

const { serve } = await loadServer()

await serve()
