export type Pair = readonly [one: string, other: string]

/** Two ways of asking for the same thing: to a careful reader they differ in nothing that matters. */
export const SAME: readonly Pair[] = [
  // the capital of the first word, the mark at the end, blanks
  ['What is the capital of France?', 'what is the capital of France'],
  ['What is the capital of France?', ' What is  the capital of France'],
  ['Quelle est la capitale de la France ?', 'Quelle est la capitale de la France'],
  ['Why is the sky blue?', 'why is the sky blue?'],
  ['Is it safe to eat raw eggs?', 'is it safe to eat raw eggs'],
  ['Can I freeze soup?', 'can I freeze soup'],
  ['How many moons has Mars?', 'how many moons has Mars'],
  ['Explain photosynthesis', 'explain photosynthesis.'],
  ['Compare Ann, Ben and Bea', 'compare Ann, Ben and Bea.'],
  // please, could you, tell me
  ['Explain photosynthesis', 'Please explain photosynthesis.'],
  ['Explain photosynthesis', 'Could you explain photosynthesis?'],
  ['Explain photosynthesis', 'Can you explain photosynthesis'],
  ['Please explain photosynthesis', 'Would you please explain photosynthesis?'],
  ['Describe a sunset', 'I would like you to describe a sunset.'],
  ['Describe a sunset', "I'd like you to describe a sunset"],
  ['Write a poem about the sea', 'Please write a poem about the sea'],
  ['Write a poem about the sea', 'Could you please write a poem about the sea?'],
  ['I need you to summarize chapter 3', 'Please summarise chapter 3'],
  ['Summarize chapter 3', 'Can you summarise chapter 3?'],
  ['Give me 3 names for a cat', 'Could you give me 3 names for a cat?'],
  ['Convert 5 km to miles', 'please convert 5 km to miles'],
  ['Recommend a book by Lem', 'Hi, can you recommend a book by Lem?'],
  ['What is the price of ticket 7?', 'Could you tell me what is the price of ticket 7'],
  ['How to boil an egg', 'Tell me how to boil an egg.'],
  ['What is 10% of 1,000?', 'Please tell me what is 10% of 1,000?'],
  // a greeting
  ['Why is the sky blue?', 'Hello, why is the sky blue?'],
  ['Why is the sky blue?', 'Hi there! Why is the sky blue'],
  ['Tell me a joke', 'Hey, tell me a joke.'],
  // what's, how do I
  ['What is the capital of France?', "What's the capital of France?"],
  ['What is the capital of France?', 'what’s the capital of France'],
  ['Who is the author of Hamlet?', "Hello, who's the author of Hamlet?"],
  ['Where is my nearest library?', "Where's my nearest library?"],
  ['How do I sort a list in Python?', 'How can I sort a list in Python?'],
  ['How do I sort a list in Python?', 'how to sort a list in Python'],
  ['How do I install the package?', 'Tell me how to install the package'],
  // other languages: the first letter, the mark, blanks
  ['Was ist die Hauptstadt von Frankreich?', 'was ist die Hauptstadt von Frankreich'],
  ['Quelle est la capitale de la France ?', 'quelle est la capitale de la  France?'],
  ['¿Cuál es la capital de Francia?', 'cuál es la capital de Francia'],
  ["Qual è la capitale d'Italia?", "qual è la capitale d'Italia"],
  ['Onde é a capital?', 'onde é a capital'],
  ['Hoe oud is de aarde?', 'hoe oud is de aarde'],
  ['Erkläre die Photosynthese.', 'erkläre die Photosynthese'],
]
