import { readFileSync } from 'node:fs'
import type { Motif, Place } from './motif'

/** The categories of the set with drawable things. Excludes faces, symbols and flags. */
const KINDS: Record<string, { place: Place; size: number }> = {
  Activities: { place: 'table', size: 0.42 },
  'Animals & Nature': { place: 'ground', size: 0.46 },
  'Food & Drink': { place: 'table', size: 0.42 },
  Objects: { place: 'table', size: 0.44 },
  'People & Body': { place: 'ground', size: 0.48 },
  'Travel & Places': { place: 'ground', size: 0.4 },
}

const listed = (names: string): Set<string> => new Set(names.split(/\s+/))

/** Places of things that differ from their category's place. */
const PLACES: readonly (readonly [Place, Set<string>])[] = [
  [
    'sky',
    listed(
      `airplane small-airplane helicopter parachute kite balloon bird dove eagle bat butterfly honeybee mosquito sun
      crescent-moon full-moon cloud cloud-with-rain cloud-with-lightning star glowing-star shooting-star comet rainbow
      flying-saucer dragon phoenix-bird snowflake fireworks cloud-with-snow airplane-departure lady-beetle`,
    ),
  ],
  [
    'water',
    listed(
      `fish tropical-fish blowfish shark dolphin whale spouting-whale octopus squid jellyfish seal sailboat canoe
      speedboat motor-boat ferry passenger-ship ship ring-buoy duck swan person-rowing-boat person-surfing
      person-swimming water-wave`,
    ),
  ],
  ['space', listed('rocket satellite astronaut ringed-planet alien')],
]

/** Things that are much larger or smaller than others of their category. */
const SIZES: readonly (readonly [number, Set<string>])[] = [
  [
    0.6,
    listed(
      `deciduous-tree evergreen-tree palm-tree christmas-tree castle japanese-castle tokyo-tower statue-of-liberty
      ferris-wheel giraffe rocket roller-coaster office-building hotel church mosque synagogue hindu-temple
      carousel-horse sauropod t-rex person-standing man-standing woman-standing ringed-planet`,
    ),
  ],
  [
    0.54,
    listed(
      `elephant mammoth horse camel two-hump-camel spouting-whale whale dragon house classical-building school hospital
      factory department-store house-with-garden circus-tent volcano stadium guitar violin bicycle banjo saxophone
      rhinoceros hippopotamus moose bison`,
    ),
  ],
  [
    0.32,
    listed(
      `bird butterfly honeybee lady-beetle ant beetle snail mouse hamster hedgehog chipmunk frog turtle bat fly spider
      mosquito cricket worm scorpion dove baby-chick hatching-chick front-facing-baby-chick fish tropical-fish blowfish
      crab cloud sun crescent-moon star airplane small-airplane helicopter duck bug fallen-leaf`,
    ),
  ],
]

/** Names that mean something else in a description: a scene, a time, a gesture, or no thing at all. */
const LEFT_OUT = listed(
  `sunrise sunset sunrise-over-mountains fog foggy desert desert-island national-park cityscape cityscape-at-dusk
  night-with-stars milky-way beach-with-umbrella bridge-at-night mountain snow-capped-mountain mountain-railway fly pick
  label hook construction cooking motorway selfie station seat mouth leg moon-viewing-ceremony knot thread
  person man woman boy girl child fox wolf tent middle-finger mate custard ship cut-of-meat leafy-green
  memo input-latin-letters breast-feeding bikini briefs cigarette syringe coffin headstone pill`,
)

/** Things in the categories of faces and symbols. */
const TAKEN_IN = listed(
  'red-heart broken-heart bomb ghost skull alien alien-monster goblin ogre love-letter speech-balloon menorah',
)

/** Common names of things that the set calls something else. */
const CALLED: Record<string, string> = {
  'person-standing': 'person,people,child,hiker,traveler,traveller,worker',
  'man-standing': 'man,boy',
  'woman-standing': 'woman,girl',
  'hot-beverage': 'cup,coffee,mug,tea,cup of coffee,cup of tea,espresso,latte,cappuccino,teacup,cafe',
  'ringed-planet': 'planet,saturn,jupiter,mars,galaxy,cosmos,universe',
  'water-wave': 'wave,surf,tsunami',
  'deciduous-tree': 'tree,oak,maple,elm,orchard,birch,willow,apple tree',
  'evergreen-tree': 'pine,pine tree,fir,fir tree,spruce,conifer,evergreen,cypress,cedar',
  'palm-tree': 'palm,coconut tree',
  tulip: 'flower,daisy,lily,bloom,daisies',
  bouquet: 'flowers,bunch of flowers',
  'fallen-leaf': 'leaf,autumn leaf',
  herb: 'leaves,fern',
  'potted-plant': 'plant,houseplant',
  cactus: 'succulent,saguaro',
  mushroom: 'toadstool,fungus',
  sun: 'sunshine',
  'crescent-moon': 'moon,crescent',
  fire: 'flame,campfire,bonfire',
  house: 'home,cottage,cabin,farmhouse,barn',
  'house-with-garden': 'farm',
  castle: 'fortress,palace,fort',
  'office-building': 'office,building,apartment,apartment building',
  'classical-building': 'temple,museum,courthouse,pantheon,parliament',
  sailboat: 'boat,yacht,sail,sailing boat,sailing ship,dinghy',
  'passenger-ship': 'ship,steamer,cruise ship,liner,tanker,freighter,cargo ship',
  automobile: 'car,auto,sedan,convertible',
  'racing-car': 'race car,sports car,formula one car',
  'delivery-truck': 'truck',
  'articulated-lorry': 'lorry,semi truck,trailer',
  'sport-utility-vehicle': 'suv,jeep',
  minibus: 'van,camper',
  locomotive: 'train,steam train,steam engine',
  'high-speed-train': 'express train',
  bicycle: 'bike,cycle',
  motorcycle: 'motorbike',
  'motor-scooter': 'scooter,vespa,moped',
  'fire-engine': 'fire truck,firetruck',
  airplane: 'plane,aeroplane,jet,aircraft,flight,airliner',
  'flying-saucer': 'ufo',
  rocket: 'spaceship,spacecraft,space shuttle,launch,starship',
  speedboat: 'motorboat',
  cat: 'kitten,kitty',
  dog: 'puppy,hound,retriever,labrador,terrier',
  bird: 'sparrow,robin,songbird,canary',
  dove: 'pigeon,seagull,gull',
  eagle: 'hawk,falcon',
  'tropical-fish': 'goldfish,angelfish',
  fish: 'salmon,trout,tuna',
  'spouting-whale': 'whale',
  butterfly: 'moth',
  honeybee: 'bee,bumblebee,wasp',
  'lady-beetle': 'ladybug,ladybird',
  bug: 'caterpillar,insect',
  horse: 'pony,stallion',
  turtle: 'tortoise',
  rabbit: 'bunny,hare',
  ewe: 'sheep,lamb',
  ox: 'bull,buffalo',
  crocodile: 'alligator,croc',
  'baby-chick': 'chick,chicken chick',
  chicken: 'hen',
  rooster: 'cock,cockerel',
  deer: 'stag,reindeer,doe,elk',
  hippopotamus: 'hippo',
  rhinoceros: 'rhino',
  chipmunk: 'squirrel',
  sauropod: 'dinosaur,brontosaurus',
  't-rex': 'tyrannosaurus',
  leopard: 'cheetah,jaguar,panther',
  lion: 'lioness',
  monkey: 'chimpanzee,ape',
  snake: 'serpent,python,cobra',
  lizard: 'gecko,iguana,chameleon',
  'spiral-shell': 'shell,seashell',
  llama: 'alpaca',
  books: 'library',
  'closed-book': 'book,novel',
  'open-book': 'reading',
  'light-bulb': 'lightbulb,bulb,idea,innovation,electricity,energy',
  'couch-and-lamp': 'sofa,couch,furniture,living room,lamp',
  chair: 'armchair,stool',
  laptop: 'computer,website,software,programming,code,coding',
  'desktop-computer': 'screen,monitor,desktop,pc',
  'mobile-phone': 'phone,smartphone,mobile,app,cellphone',
  camera: 'photography',
  'alarm-clock': 'clock,deadline',
  stopwatch: 'timer',
  key: 'password,access',
  locked: 'lock,padlock,security,privacy',
  gear: 'cog,settings,machine,engineering,industry',
  'wrapped-gift': 'gift,present,birthday',
  'christmas-tree': 'christmas',
  'party-popper': 'party,celebration',
  'birthday-cake': 'cake',
  shortcake: 'dessert,slice of cake,bakery',
  'red-apple': 'apple',
  grapes: 'fruit,fruits',
  tangerine: 'orange,mandarin,clementine',
  pizza: 'dinner,lunch',
  'fork-and-knife-with-plate': 'food,restaurant,meal',
  'bottle-with-popping-cork': 'bottle,champagne',
  'wine-glass': 'wine,glass of wine',
  'beer-mug': 'beer,glass of beer,mug of beer',
  'glass-of-milk': 'milk,glass of milk',
  'cup-with-straw': 'drink,soda,lemonade,juice,cola',
  'cocktail-glass': 'cocktail,martini',
  lollipop: 'sweet,sweets',
  hamburger: 'burger,cheeseburger',
  'french-fries': 'fries,chips',
  'steaming-bowl': 'ramen,noodles,soup,noodle soup,bowl of ramen,bowl of soup,bowl of noodles',
  spaghetti: 'pasta',
  'cooked-rice': 'rice,bowl of rice',
  'green-salad': 'salad',
  'cheese-wedge': 'cheese',
  'baguette-bread': 'baguette',
  'ear-of-corn': 'corn,maize',
  eggplant: 'aubergine',
  'hot-pepper': 'chili,chilli,pepper',
  doughnut: 'donut',
  'ice-cream': 'sundae,bowl of ice cream',
  'soft-ice-cream': 'ice cream cone',
  'kiwi-fruit': 'kiwi',
  'bowl-with-spoon': 'bowl,cereal,porridge',
  'meat-on-bone': 'meat',
  'cut-of-meat': 'steak',
  shrimp: 'prawn',
  'musical-notes': 'music,band,concert,song,melody',
  'musical-keyboard': 'piano',
  headphone: 'headphones',
  'studio-microphone': 'podcast',
  umbrella: 'parasol',
  'red-heart': 'heart,love,valentine,health,charity',
  'globe-showing-europe-africa': 'globe,earth,world,travel,international,climate,environment',
  'world-map': 'map',
  trophy: 'award,winner,champion,prize,success,cup final',
  'sports-medal': 'medal,gold medal',
  'chart-increasing': 'business,growth,finance,sales,profit,marketing,startup,investment,statistics,revenue',
  'money-bag': 'money',
  'puzzle-piece': 'puzzle,team,teamwork,collaboration,solution,integration,strategy',
  'snowman-without-snow': 'snowman,snow man,frosty',
  'soccer-ball': 'football,soccer,ball',
  'american-football': 'gridiron',
  'rugby-football': 'rugby,rugby ball',
  'video-game': 'game controller,gamepad,controller',
  'magic-wand': 'wand,magic',
  'gem-stone': 'gem,diamond,jewel',
  'crossed-swords': 'sword,swords',
  'high-heeled-shoe': 'heels,high heels',
  'running-shoe': 'shoe,sneaker,trainer',
  'hiking-boot': 'boot',
  't-shirt': 'shirt,tee',
  'top-hat': 'hat',
  'graduation-cap': 'graduation',
  'billed-cap': 'cap',
  handbag: 'bag',
  backpack: 'rucksack',
  luggage: 'suitcase',
  'kitchen-knife': 'knife',
  'fork-and-knife': 'fork,cutlery',
  envelope: 'mail,email,letter',
  'artist-palette': 'palette,paint',
  television: 'tv',
  'magnifying-glass-tilted-left': 'magnifying glass,search,research',
  'police-officer': 'policeman,policewoman,cop',
  cook: 'chef',
  'health-worker': 'doctor,nurse',
  'santa-claus': 'santa,father christmas',
  'person-mage': 'wizard,witch,mage,sorcerer',
  'person-fairy': 'fairy',
  'person-elf': 'elf',
  'person-vampire': 'vampire',
  'person-zombie': 'zombie',
  'woman-merpeople': 'mermaid',
  'person-superhero': 'superhero,hero',
  'person-running': 'runner,jogger',
  'person-biking': 'cyclist',
  'person-surfing': 'surfer',
  'person-swimming': 'swimmer',
  'woman-dancing': 'dancer',
  'man-technologist': 'programmer,developer,hacker',
  astronaut: 'cosmonaut,spaceman',
  'old-man': 'grandfather,grandpa',
  'old-woman': 'grandmother,grandma',
  sparkles: 'sparkle',
  telescope: 'astronomy',
  microscope: 'science,laboratory',
  'test-tube': 'chemistry,experiment',
  'balance-scale': 'scales,justice,law',
  'person-in-lotus-position': 'yoga,meditation',
  wedding: 'marriage',
  church: 'chapel,cathedral',
  'jack-o-lantern': 'pumpkin,halloween',
  'teacup-without-handle': 'green tea',
}

const SKIN = /-(?:light|medium|dark)$/

/** The things in the set, from its list of names alone. `iconPicture` reads the icons. */
export function iconMotifs(): Motif[] {
  const file = readFileSync(Bun.resolveSync('@iconify-json/fluent-emoji-flat/metadata.json', import.meta.dir), 'utf8')
  const { categories } = JSON.parse(file) as { categories: Record<string, string[]> }
  return Object.entries(categories).flatMap(([category, names]) =>
    names
      .filter((name) => !SKIN.test(name) && (TAKEN_IN.has(name) || CALLED[name] || !LEFT_OUT.has(name)))
      .filter((name) => category in KINDS || TAKEN_IN.has(name))
      .map((name) => {
        const { place, size } = KINDS[category] ?? KINDS.Objects!
        return {
          name,
          words: [name.replaceAll('-', ' '), ...(CALLED[name]?.split(',') ?? [])],
          place: PLACES.find(([, some]) => some.has(name))?.[0] ?? place,
          size: SIZES.find(([, some]) => some.has(name))?.[0] ?? size,
        }
      }),
  )
}
