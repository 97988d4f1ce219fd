/** Made-up secrets, one of each kind and in each kind of place. None is or ever was valid. */
const plant = (name: string, value: string, text = `see ${value} there`) => ({ name, value, text });

export const plantedEnv: Readonly<Record<string, string>> = {
  MY_SERVICE_TOKEN: 'plain-words-without-any-shape',
  DATABASE_PASSWORD: 'pä$$ "quoted" word',
  STRIPE_SECRET: 'another/odd+value',
  DEPLOY_KEY: 'first line\nsecond line of it',
  HOME: '/home/ann',
};

const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIBOgIBAAJBAK'.repeat(4)}\n-----END RSA PRIVATE KEY-----`;
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

export const PLANTED = [
  plant('an Anthropic key', 'sk-ant-api03-AbCdEf0123456789AbCdEf0123456789'),
  plant('an OpenAI project key', 'sk-proj-AbCdEf0123456789AbCdEf01'),
  plant('a Stripe key', 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'),
  plant('a GitHub token', 'ghp_0123456789abcdefABCDEF0123456789abcd'),
  plant('a GitHub server token', 'ghs_0123456789abcdefABCDEF0123456789abcd'),
  plant('a fine-grained GitHub token', 'github_pat_11ABCDEFG0123456789_abcdefghijklmnop'),
  plant('a GitLab token', 'glpat-abcdefghij0123456789'),
  plant('an npm token', 'npm_abcdefghijklmnopqrstuvwxyz0123456789'),
  plant('a Slack token', 'xoxb-123456789012-abcdefGHIJKL'),
  plant('an AWS key', 'AKIAIOSFODNN7EXAMPLE'),
  plant('a temporary AWS key', 'ASIAIOSFODNN7EXAMPLE'),
  plant('a Google key', 'AIzaSyA-0123456789abcdefghijklmnopqrst'),
  plant('a JWT', JWT),
  plant('a JWT in a header', JWT, `curl -H "Authorization: Bearer ${JWT}" https://x`),
  plant('a bearer token', 'abcdef0123456789xyz', 'Authorization: Bearer abcdef0123456789xyz'),
  plant('basic credentials', 'YW5uOmh1bnRlcjIhIQ==', 'authorization: Basic YW5uOmh1bnRlcjIhIQ=='),
  plant('a private key', PEM, `key:\n${PEM}\n`),
  plant('a password in a URL', 'hunter2hunter2', 'git clone https://ann:hunter2hunter2@example.org/x.git'),
  plant('a database URL', 's3cr3t!pw', 'postgres://app:s3cr3t!pw@db:5432/app'),
  plant('an assignment in a shell', 'f00ba4-qu0x', 'export API_KEY=f00ba4-qu0x'),
  plant('a quoted assignment', 'opensesame', 'password = "opensesame"'),
  plant('an assignment in JSON', 'deadbeefcafe', '{"apiKey":"deadbeefcafe","x":1}'),
  plant('an assignment in JSON in a string', 'deadbeefc0de', '"{\\"client_secret\\":\\"deadbeefc0de\\"}"'),
  plant('an assignment in YAML', 'v3ry-l0ng-s3cret', 'db_password: v3ry-l0ng-s3cret'),
  plant('a value of the environment', 'plain-words-without-any-shape'),
  plant('a value of the environment in the middle of a word', 'another/odd+value', 'xanother/odd+valuex'),
  plant('a value of the environment with quotes', 'pä$$ "quoted" word'),
  plant('a value of the environment in JSON', 'pä$$ \\"quoted\\" word', '{"pw":"pä$$ \\"quoted\\" word"}'),
  plant('a value of the environment in a URL', 'another%2Fodd%2Bvalue', 'https://x?q=another%2Fodd%2Bvalue'),
  plant('a value of the environment over two lines', 'first line\nsecond line of it'),
] as const;
