import { serve } from './app/serve'

await serve()
