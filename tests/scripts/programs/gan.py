"""Two networks against each other, each with an optimizer of its own."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--niter", type=int, default=2)
parser.add_argument("--ngf", type=int, default=16)
args = parser.parse_args()

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
generator = nn.Sequential(
    nn.ConvTranspose2d(16, args.ngf, 4, 1, 0, bias=False), nn.BatchNorm2d(args.ngf), nn.ReLU(True),
    nn.ConvTranspose2d(args.ngf, 1, 4, 2, 1, bias=False), nn.Tanh(),
).to(device)  # fmt: skip
discriminator = nn.Sequential(
    nn.Conv2d(1, 16, 4, 2, 1), nn.LeakyReLU(0.2, True), nn.Conv2d(16, 1, 4, 1, 0), nn.Sigmoid(),
).to(device)  # fmt: skip
for part in (*generator.modules(), *discriminator.modules()):
    if isinstance(part, nn.Conv2d | nn.ConvTranspose2d):
        nn.init.normal_(part.weight, 0.0, 0.02)
criterion = nn.BCELoss()
by_d = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
by_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
for step in range(args.niter):
    discriminator.zero_grad()
    label = torch.full((8,), 1.0, device=device)
    loss_real = criterion(discriminator(torch.rand(8, 1, 8, 8).to(device)).view(-1), label)
    loss_real.backward()
    fake = generator(torch.randn(8, 16, 1, 1, device=device))
    label.fill_(0.0)
    loss_fake = criterion(discriminator(fake.detach()).view(-1), label)
    loss_fake.backward()
    by_d.step()
    generator.zero_grad()
    label.fill_(1.0)
    loss = criterion(discriminator(fake).view(-1), label)
    loss.backward()
    by_g.step()
    print(f"[{step}] D {loss_real.item() + loss_fake.item():.4f} G {loss.item():.4f}")
torch.save(generator.state_dict(), "generator.pth")
